const COLUMNS = [
  '',
  'CPU a request',
  'ratio',
  '(spread)',
  'in the kernel',
  'throughput',
  'ratio',
  '(spread)',
  'busy',
];

/**
 * One Node's table. A ratio is the median of the rounds' ratios, each to the bare handler of the
 * same round; the spread is the smallest and the largest of them. What is spent in the kernel is
 * part of the CPU: most of it is one write to a socket, which costs more when it has to wake the
 * client up, as it does the more often the slower the server is. `busy` is the share of one core
 * that the server had: below 95 % something else took its time, and throughput says little.
 */
export function report({ version, runners, rounds, seconds, warmUpSeconds }) {
  const [bare] = runners;
  const rows = runners.map(({ title, samples }) => [
    title,
    `${median(samples.map(({ cpuUs }) => cpuUs)).toFixed(1)} us`,
    ...ratio(samples.map(({ cpuUs }, round) => cpuUs / bare.samples[round].cpuUs)),
    `${median(samples.map(({ kernelUs }) => kernelUs)).toFixed(1)} us`,
    `${Math.round(median(samples.map(({ perSecond }) => perSecond)))}/s`,
    ...ratio(samples.map(({ perSecond }, round) => perSecond / bare.samples[round].perSecond)),
    percent(median(samples.map(({ busy }) => busy))),
  ]);
  const client = Math.max(...runners.flatMap(({ samples }) => samples.map((s) => s.clientBusy)));
  return [
    `\nNode ${version}: ${rounds} rounds of ${seconds} s a case, after ${warmUpSeconds} s of ` +
      `warm-up each; the client used at most ${percent(client)} of a core`,
    ...table([COLUMNS, ...rows]),
  ].join('\n');
}

export function median(numbers) {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** The rows as a table of Markdown, which can be read as it is. */
export function table(rows) {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  const lines = rows.map((row) => line(row.map((cell, i) => padded(cell, widths[i], i === 0))));
  const rule = widths.map((width, i) =>
    i === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`,
  );
  return [lines[0], line(rule), ...lines.slice(1)];
}

/** The median of the rounds' ratios, and their spread, as two cells. */
export function ratio(ratios) {
  const [least, most] = [Math.min(...ratios), Math.max(...ratios)];
  return [median(ratios).toFixed(2), `${least.toFixed(2)}-${most.toFixed(2)}`];
}

function percent(share) {
  return `${Math.round(share * 100)} %`;
}

function padded(cell, width, isFirst) {
  return isFirst ? cell.padEnd(width) : cell.padStart(width);
}

function line(cells) {
  return `| ${cells.join(' | ')} |`;
}

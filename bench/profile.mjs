import { measure } from './processes.mjs';
import { table } from './report.mjs';

const SECONDS = 5;
const ROWS = 60;

/**
 * The functions in which one case spends its time, a request. Sampling costs time by itself: the
 * sum is more than what a bench without it says.
 */
export async function profile({ name, server }, client) {
  await server.ask('/profile');
  const sample = await measure(server, client, name, SECONDS);
  return { sample, profile: await server.ask('/profiled') };
}

export function printProfile(version, { title }, { sample, profile: recorded }) {
  const ours = new Map();
  const places = new Map();
  for (const [node, us] of selfTimes(recorded)) {
    const place = placeOf(node.callFrame);
    const perRequest = us / sample.requests;
    places.set(place, (places.get(place) ?? 0) + perRequest);
    const group = groupOf(node.callFrame);
    ours.set(group, (ours.get(group) ?? 0) + perRequest);
  }
  console.log(`\nNode ${version}, ${title}: ${sample.cpuUs.toFixed(1)} us of CPU a request`);
  console.log(listing('part', ours, 20).join('\n'));
  console.log(listing('function', places, ROWS).join('\n'));
}

function* selfTimes({ nodes, samples, timeDeltas }) {
  const times = new Map();
  for (const [i, id] of samples.entries()) times.set(id, (times.get(id) ?? 0) + timeDeltas[i]);
  for (const node of nodes) if (times.has(node.id)) yield [node, times.get(node.id)];
}

function placeOf({ functionName, url, lineNumber }) {
  const file = url.split('/').slice(-2).join('/');
  return `${functionName || '(unnamed)'} ${file}${file && `:${lineNumber + 1}`}`;
}

function groupOf({ functionName, url }) {
  if (url === '') return functionName || '(unnamed)';
  if (url.startsWith('node:')) return url.split('/').slice(0, 2).join('/');
  const [, name] = /\/node_modules\/([^/]+)\//.exec(url) ?? [];
  return name ?? url.split('/').slice(-2).join('/');
}

function listing(what, times, most) {
  const sorted = [...times].sort(([, a], [, b]) => b - a).filter(([name]) => name !== '(idle)');
  const rows = sorted.slice(0, most).map(([name, us]) => [name, us.toFixed(2)]);
  return table([[what, 'us a request'], ...rows]);
}

/** Runs `action` so many at a time for so long: calls a second, and CPU of this process a call. */
export async function load(concurrency, seconds, action) {
  const cpu = process.cpuUsage();
  const startMs = performance.now();
  const endMs = startMs + seconds * 1_000;
  let done = 0;
  const worker = async () => {
    while (performance.now() < endMs) {
      await action();
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  const { user, system } = process.cpuUsage(cpu);
  return {
    perSecond: (done * 1_000) / (performance.now() - startMs),
    cpuUs: (user + system) / done,
  };
}

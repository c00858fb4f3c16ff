/** A promise that the test opens. */
export interface Gate {
  readonly opened: Promise<void>;
  open(): void;
}

export function gate(): Gate {
  let open: () => void = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

/** Waits until `isTrue`, and fails after five seconds. */
export async function until(isTrue: () => boolean): Promise<void> {
  const endMs = Date.now() + 5_000;
  while (!isTrue()) {
    if (Date.now() > endMs) throw new Error('It did not happen within five seconds.');
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

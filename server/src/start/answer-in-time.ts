/** What is answered within the time; undefined for what fails or comes later. What looks for faults must not wait for one. */
export async function answerInTime<Answer>(asked: Promise<Answer>, milliseconds: number): Promise<Answer | undefined> {
  return Promise.race([
    asked.catch(() => undefined),
    new Promise<undefined>((resolve) => setTimeout(resolve, milliseconds, undefined).unref()),
  ]);
}

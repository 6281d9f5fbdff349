/** What a scenario saw, and the promises it found broken. */
export type Report = { numbers: Record<string, number | string | boolean>; broken: string[] };

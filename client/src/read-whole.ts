// To which a body cannot be given (Fetch Standard, null body status).
const bodiless = [204, 205, 304];

/** A reply whose body has been read, so that what limits the time of a request limits that of its reply too. */
export async function readWhole(answer: Response): Promise<Response> {
  return new Response(bodiless.includes(answer.status) ? null : await answer.arrayBuffer(), answer);
}

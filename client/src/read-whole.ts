// Statuses that do not permit a body (Fetch Standard, null body status).
const bodiless = [204, 205, 304];

/** Returns a response whose body is already read, so that a request's time limit also covers its body. */
export async function readWhole(answer: Response): Promise<Response> {
  return new Response(bodiless.includes(answer.status) ? null : await answer.arrayBuffer(), answer);
}

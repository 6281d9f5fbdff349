import type { SimulatedAnswer } from './simulator-account.ts';

/** Google's error body. */
export function googleError(
  ...[code, status, message, details]: [number, string, string, object[]?]
): Exclude<SimulatedAnswer, 'silence'> {
  return { status: code, body: { error: { code, message, status, ...(details ? { details } : {}) } } };
}

/** FCM's own word among the details of an error. */
export function fcmError(errorCode: string): object {
  return { '@type': 'type.googleapis.com/google.firebase.fcm.v1.FcmError', errorCode };
}

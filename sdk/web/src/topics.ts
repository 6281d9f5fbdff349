import { read } from './store.ts';
import { call } from './sync.ts';

/** A topic as the signed-in user has it. */
export type Topic = {
  /** The key, for `setTopic`. */
  topic: string;
  name: string;
  description: string;
  isIn: boolean;
  /** False: the user made no choice and follows the default of the topic. */
  isChosen: boolean;
};

/**
 * Why topics could not be read or set. `signed-out`: nobody is signed in, or the sign-in has not reached the service yet.
 * `offline`: the service could not be reached. `unknown-topic`: the workspace has no topic of that key. `service`: any other answer.
 */
export type TopicErrorCode = 'signed-out' | 'offline' | 'unknown-topic' | 'service';

export class TopicError extends Error {
  override readonly name = 'TopicError';
  readonly code: TopicErrorCode;

  constructor(code: TopicErrorCode) {
    super(code);
    this.code = code;
  }
}

type SentTopic = { topic: string; name: string; description: string; opted_in: boolean; chosen_at: string | null };

/** Reads the topics, or sets some first. Nothing is queued: a user must see whether a choice was stored. @throws TopicError */
export async function askTopics(choices?: Record<string, boolean>): Promise<Topic[]> {
  const state = await read();
  if (!state?.isRegistered || state.user === undefined || state.serviceUser !== state.user)
    throw new TopicError('signed-out');
  const path = `/installations/${state.id}/topics`;
  const { status, code, body } = await call(
    state,
    choices ? { method: 'PATCH', path, body: { topics: choices } } : { method: 'GET', path },
  );
  if (status === 200) return (body as { topics: SentTopic[] }).topics.map(toTopic);
  if (status === 0) throw new TopicError('offline');
  if (code === 'INSTALLATION_SIGNED_OUT') throw new TopicError('signed-out');
  throw new TopicError(code === 'PARAMETER_INVALID' ? 'unknown-topic' : 'service');
}

function toTopic({ opted_in: isIn, chosen_at: chosenAt, topic, name, description }: SentTopic): Topic {
  return { topic, name, description, isIn, isChosen: chosenAt !== null };
}

import type { Message } from '../../domain/campaigns/message.ts';
import type { OwnTexts } from '../../domain/template/content-shape.ts';
import type { ProviderCredentials } from '../../domain/provider-credential.ts';
import type { DeliveryRequest, DeviceAddress, Outcome } from './provider.ts';

/** Messages of one run to devices of one platform, provider and kind of address. They are known by their places in `devices`. */
export type DeliveryBatch = {
  credentials: ProviderCredentials;
  /** At least one. */
  devices: readonly BatchDevice[];
  /** The whole message of a device. */
  messageOf(place: number): Message;
  /** What of a device's message is its own, when the rest is everybody's; undefined of a device whose message is to be made by itself. */
  partsOf?: ((place: number) => MessageParts | undefined) | undefined;
  /** The message of a device with other texts in the place of its own ones. Given with parts that have some. */
  messageWith?: ((place: number, texts: readonly string[]) => Message) | undefined;
  /** `promptly`: before what is sent through lanes, however much of that waits. */
  pace: 'promptly' | 'in turn';
  /** Once for each message that was sent. */
  onOutcome(place: number, outcome: Outcome): void;
  /** Instead, when the message could not be made. */
  onFault(place: number, error: unknown): void;
};

export type BatchDevice = Omit<DeviceAddress, 'deviceId'> & { id: string };

/**
 * In a message of the same run to another device of the same platform everything else is the same. `own`: the texts of its
 * user; of another shape are other messages.
 */
export type MessageParts = Pick<Message, 'identity' | 'report'> & { own?: OwnTexts };

/** Sends a device its message. Its outcome may be told before this returns. */
export type SendTo = (place: number) => void;

export type OpenBatch = (batch: DeliveryBatch) => SendTo;

/** Batches whose messages are sent by themselves, each with a promise of its outcome. */
export function makeSingleBatch(deliver: (request: DeliveryRequest) => Promise<Outcome>): OpenBatch {
  return ({ credentials, devices, messageOf, onOutcome, onFault }) =>
    (place) => {
      let message: Message;
      try {
        message = messageOf(place);
      } catch (error) {
        onFault(place, error);
        return;
      }
      const { id: deviceId, platform, provider, pushId, pushIdType } = devices[place]!;
      deliver({ message, device: { deviceId, platform, provider, pushId, pushIdType }, credentials }).then(
        (outcome) => onOutcome(place, outcome),
        (error: unknown) => onFault(place, error),
      );
    };
}

import { setImmediate } from 'node:timers/promises';
import { unknownUser } from '../../domain/users/user-source.ts';
import { deliverySettings } from '../../domain/campaigns/delivery-settings.ts';
import { makePersonaliser } from '../../domain/template/personalise.ts';
import type { Personal, Personaliser } from '../../domain/template/personalise.ts';
import type { Database } from '../../storage/database.ts';
import type { AudienceDevice } from '../../storage/campaigns/audience.ts';
import { findUsers } from '../../storage/users/users.ts';
import type { RunToSend } from '../../storage/runs/run-states.ts';

/** A device with the message rendered for its user; absent if all users get the same. */
export type Recipient = AudienceDevice & {
  personal?: Personal;
  /** What was thrown when the message was rendered for the user. */
  fault?: Error;
};

export type PersonaliseDevices = <Device extends AudienceDevice>(
  run: RunToSend,
  devices: Device[],
) => Promise<(Device & Recipient)[]>;

// The worst message takes 0.3 ms (docs/decisions/0019): 20 ms at most before the process does something else.
const messagesAtOnce = 64;

/**
 * Makes the messages of a run for a page of its devices. The attributes that its templates read are fetched in one
 * statement; a run without templates costs nothing. Templates are read once for all pages of a chunk.
 */
export function makePersonaliseDevices({ database }: { database: Database }): PersonaliseDevices {
  const known = new WeakMap<RunToSend['content'], { personaliser: Personaliser | undefined }>();
  const personaliserOf = (run: RunToSend): Personaliser | undefined => {
    const found = known.get(run.content);
    if (found) return found.personaliser;
    const personaliser = makePersonaliser(run.content, deliverySettings(run.settings).templates);
    known.set(run.content, { personaliser });
    return personaliser;
  };

  return async (run, devices) => {
    const personaliser = personaliserOf(run);
    if (!personaliser || devices.length === 0) return devices;
    const users = await findUsers(database, {
      workspaceId: run.workspaceId,
      users: devices.map(({ bucket, userId }) => ({ bucket, userId })),
      names: personaliser.reads,
    });
    const event = run.businessEvent?.attributes ?? {};
    const recipients: ((typeof devices)[number] & Recipient)[] = [];
    for (const device of devices) {
      if (recipients.length % messagesAtOnce === messagesAtOnce - 1) await setImmediate();
      // Erased since the page was read: nothing is known of this person any more.
      const user = users.get(device.userId) ?? unknownUser;
      const { platform } = device;
      try {
        recipients.push(
          run.content[platform] ? { ...device, personal: personaliser.render({ platform, user, event }) } : device,
        );
      } catch (error) {
        recipients.push({ ...device, fault: new Error('the message cannot be rendered', { cause: error }) });
      }
    }
    return recipients;
  };
}

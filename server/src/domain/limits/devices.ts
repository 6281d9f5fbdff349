/** Devices sent one by one (fact 5). */
export const deviceUpdatesPerMinute = 10_000;
/** Devices blocked or let in again (fact 5). */
export const deviceBlocksPerMinute = 1_000;

/** Devices one request may block. Ours. */
export const maxBlockedDevices = 100;
/** Of a block. Ours. */
export const maxBlockReasonCharacters = 1_000;
/** A push token, or a web subscription as text. Ours. */
export const maxPushIdCharacters = 4_096;
/** Model, versions, advertising ids. Ours. */
export const maxDeviceTextCharacters = 512;

/** Devices sent one by one (fact 5). */
export const deviceUpdatesPerMinute = 10_000;
/** Devices blocked or unblocked (fact 5). */
export const deviceBlocksPerMinute = 1_000;

/** Devices one request may block. Ours. */
export const maxBlockedDevices = 100;
/** Characters of the reason for a block. Ours. */
export const maxBlockReasonCharacters = 1_000;
/** Characters of a push token, or of a web subscription as text. Ours. */
export const maxPushIdCharacters = 4_096;
/** Characters of the model, a version or an advertising id. Ours. */
export const maxDeviceTextCharacters = 512;

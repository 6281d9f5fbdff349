// Devices

/** Devices sent one by one (fact 5). Unit: devices a minute per workspace. Exceeded: DATA_RATE_LIMITED. */
export const deviceUpdatesPerMinute = 10_000;
/** Devices blocked or unblocked (fact 5). Unit: devices a minute per workspace. Exceeded: DATA_RATE_LIMITED. */
export const deviceBlocksPerMinute = 1_000;
/** Devices that one request may block. Unit: devices per request. Exceeded: DATA_VALUE_INVALID. */
export const maxBlockedDevices = 100;
/** Longest reason for a block. Unit: characters per request. Exceeded: DATA_VALUE_INVALID. */
export const maxBlockReasonCharacters = 1_000;
/** Longest push token, or web subscription as text. Unit: characters per device. Exceeded: DATA_VALUE_INVALID. */
export const maxPushIdCharacters = 4_096;
/** Longest model, version or advertising id. Unit: characters per value. Exceeded: DATA_VALUE_INVALID. */
export const maxDeviceTextCharacters = 512;

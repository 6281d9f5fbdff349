/** An occurrence found at most this late is still sent, unless the setting says otherwise; a later one is missed (decision D37). */
export const lateSendMinutes = 60;
/** `repeatAfter` of a periodic push (decision D36). */
export const maxRepeatAfterDays = 365;

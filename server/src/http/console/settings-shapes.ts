import { Type } from 'typebox';
import { LimitUse } from './overview-shapes.ts';
import { described, oneOf } from './shape-parts.ts';

export const WorkspaceSettings = described(
  Type.Object({
    name: Type.String(),
    timeZone: Type.String({ description: 'IANA name.' }),
    frequencyCaps: Type.String({ description: '`2/1d,5/7d`: messages in hours or days.' }),
    quietHours: Type.String({ description: "`22:00-08:00`, in each person's zone." }),
    quietMode: oneOf(['HOLD', 'DROP']),
    minimumDelay: Type.String({ description: 'Minutes between two messages to a person.' }),
    zoneAttribute: Type.String({ description: "The attribute that holds a person's zone." }),
    controlGroup: Type.String({ description: 'Percent of the people that campaigns leave out which say so.' }),
    pushBodies: oneOf(['lenient', 'strict']),
    androidMode: oneOf(['data', 'notification', 'both']),
    pushFrom: Type.String({ description: 'Value of `push_from` in the data of Android messages.' }),
    dataPrefix: Type.String({ description: 'Before our keys in it; `none`: that of the installation.' }),
  }),
  'In the form users type them; `none` for a control that is not set.',
);

export const FixedSettings = described(
  Type.Object({
    workspaceId: Type.String(),
    dbName: Type.String(),
    dataCenter: Type.String(),
    url: Type.String({ description: 'Under which callers reach the API.' }),
    headerPrefix: Type.Object({ value: Type.String(), setting: Type.String() }),
    limits: Type.Array(LimitUse),
  }),
  "What is as it is: ids, and what the installation's settings say.",
);

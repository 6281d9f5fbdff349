/**
 * The standard attributes (fact 3.8, fact 5): the name under which each is stored, and the other names that callers use.
 * Clients of the data API send `email`, templates read `Email (Standard)`, and pushes look up `USER_ATTRIBUTE_USER_EMAIL`:
 * all mean `u_em`. Stored once, so that each of them finds what any other has stored.
 */
export const standardAttributes = {
  uid: { display: 'ID', selector: 'USER_ATTRIBUTE_UNIQUE_ID', ofApi: [] },
  u_n: { display: 'Name', selector: 'USER_ATTRIBUTE_USER_NAME', ofApi: ['name'] },
  u_fn: { display: 'First Name', selector: 'USER_ATTRIBUTE_USER_FIRST_NAME', ofApi: ['first_name'] },
  u_ln: { display: 'Last Name', selector: 'USER_ATTRIBUTE_USER_LAST_NAME', ofApi: ['last_name'] },
  u_em: { display: 'Email (Standard)', selector: 'USER_ATTRIBUTE_USER_EMAIL', ofApi: ['email'] },
  u_mb: { display: 'Mobile Number (Standard)', selector: 'USER_ATTRIBUTE_USER_MOBILE', ofApi: ['mobile'] },
  u_gd: { display: 'Gender', selector: 'USER_ATTRIBUTE_USER_GENDER', ofApi: ['gender'] },
  u_bd: { display: 'Birthday', selector: 'USER_ATTRIBUTE_USER_BDAY', ofApi: ['birthday', 'dob'] },
} as const satisfies Record<string, StandardAttribute>;

type StandardAttribute = {
  /** The name in templates and in the console. */
  display: string;
  /** The name in `targetUserAttributes` of a push. */
  selector: string;
  /** The names in requests of the data API and in files. */
  ofApi: readonly string[];
};

const standard: [name: string, StandardAttribute][] = Object.entries(standardAttributes);
const storedByApiName = new Map(standard.flatMap(([stored, { ofApi }]) => ofApi.map((name) => [name, stored])));
const storedByTemplateName = new Map(
  standard.flatMap(([stored, { display, selector }]) => [
    [display, stored],
    [selector, stored],
  ]),
);

/** The names of the data API, each with the name under which it is stored. */
export const apiNamesOfAttributes: readonly (readonly [apiName: string, stored: string])[] = [...storedByApiName];

/** Returns the name under which an attribute is stored, for a name that a caller of the API or a file used. */
export function storedNameOf(name: string): string {
  return storedByApiName.get(name) ?? name;
}

/** Returns the same for a name in a template, which may also be displayed or be a name of the push API. */
export function storedNameInTemplates(name: string): string {
  return storedByTemplateName.get(name) ?? storedNameOf(name);
}

/** Returns attributes under the names under which they are stored. If two names mean the same one, the last one counts. */
export function underStoredNames(attributes: Record<string, unknown>): Record<string, unknown> {
  for (const name in attributes)
    if (storedByApiName.has(name))
      return Object.fromEntries(Object.entries(attributes).map(([sent, value]) => [storedNameOf(sent), value]));
  // Most bodies have none of these names, and are not copied.
  return attributes;
}

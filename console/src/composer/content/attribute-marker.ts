export type PickedAttribute = {
  source: 'UserAttribute' | 'BusinessEventAttribute';
  /** The stored name. */
  name: string;
  /** The displayed name, which templates accept too. */
  shown: string;
};

/** The standard attributes under their names in templates (the same as domain/template/personalise.ts). */
export const standardNames: Record<string, string> = {
  u_n: 'Name',
  u_fn: 'First Name',
  u_ln: 'Last Name',
  u_em: 'Email (Standard)',
  u_mb: 'Mobile Number (Standard)',
  u_gd: 'Gender',
  u_bd: 'Birthday',
};

/** Attributes for templates, the most common first. Every user has an id. */
export function attributeNames(stored: string[]): PickedAttribute[] {
  const standard = Object.keys(standardNames).filter((name) => stored.includes(name));
  const own = stored.filter((name) => standardNames[name] === undefined && name !== 'uid');
  const of = (name: string, shown: string): PickedAttribute => ({ source: 'UserAttribute', name, shown });
  return [
    ...standard.map((name) => of(name, standardNames[name]!)),
    of('uid', 'ID'),
    ...own.map((name) => of(name, name)),
  ];
}

/** Returns the template's marker. `otherwise` is the text for users without the attribute. */
export function markerOf({ source, shown }: PickedAttribute, otherwise: string): string {
  const instead = otherwise.trim() === '' ? '' : ` | default(${quote(otherwise.trim())})`;
  return `{{ ${source}[${quote(shown)}]${instead} }}`;
}

function quote(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

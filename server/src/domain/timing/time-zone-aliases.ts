/**
 * Abbreviations that clients send as the name of a zone, and the IANA zone each stands for. They are those of Java's
 * `ZoneId.SHORT_IDS` and of ICU, which every Android phone, browser and Node understands in this way; Temporal refuses
 * them. One source for all: a client that takes `BST` from such a library means Dhaka, whatever a reader in London
 * thinks. What a name also stands for elsewhere is told in the documentation, not guessed.
 */
export const timeZoneAliases: Readonly<Record<string, { zone: string; means: string; elsewhere?: string }>> = {
  ACT: { zone: 'Australia/Darwin', means: 'Australian Central Time', elsewhere: 'Acre Time' },
  AET: { zone: 'Australia/Sydney', means: 'Australian Eastern Time' },
  AGT: { zone: 'America/Argentina/Buenos_Aires', means: 'Argentine Time' },
  ART: { zone: 'Africa/Cairo', means: 'Arabic (Egypt) Time', elsewhere: 'Argentina Time' },
  AST: { zone: 'America/Anchorage', means: 'Alaska Time', elsewhere: 'Atlantic and Arabia Standard Time' },
  BET: { zone: 'America/Sao_Paulo', means: 'Brazil Eastern Time' },
  BST: { zone: 'Asia/Dhaka', means: 'Bangladesh Standard Time', elsewhere: 'British Summer Time' },
  CAT: { zone: 'Africa/Harare', means: 'Central Africa Time' },
  CNT: { zone: 'America/St_Johns', means: 'Canada Newfoundland Time' },
  CST: { zone: 'America/Chicago', means: 'Central Time of the USA', elsewhere: 'China and Cuba Standard Time' },
  CTT: { zone: 'Asia/Shanghai', means: 'China Taiwan Time' },
  EAT: { zone: 'Africa/Addis_Ababa', means: 'Eastern Africa Time' },
  ECT: { zone: 'Europe/Paris', means: 'European Central Time', elsewhere: 'Ecuador Time' },
  IET: { zone: 'America/Indiana/Indianapolis', means: 'Indiana Eastern Time' },
  IST: { zone: 'Asia/Kolkata', means: 'India Standard Time', elsewhere: 'Irish and Israel Standard Time' },
  JST: { zone: 'Asia/Tokyo', means: 'Japan Standard Time' },
  MIT: { zone: 'Pacific/Apia', means: 'Midway Islands Time', elsewhere: 'Marquesas Time' },
  NET: { zone: 'Asia/Yerevan', means: 'Near East Time' },
  NST: { zone: 'Pacific/Auckland', means: 'New Zealand Standard Time', elsewhere: 'Newfoundland Standard Time' },
  PLT: { zone: 'Asia/Karachi', means: 'Pakistan Lahore Time' },
  PNT: { zone: 'America/Phoenix', means: 'Phoenix Native American Time' },
  PRT: { zone: 'America/Puerto_Rico', means: 'Puerto Rico Time' },
  PST: { zone: 'America/Los_Angeles', means: 'Pacific Time of the USA', elsewhere: 'Philippine Standard Time' },
  SST: { zone: 'Pacific/Guadalcanal', means: 'Solomon Standard Time', elsewhere: 'Samoa Standard Time' },
  VST: { zone: 'Asia/Ho_Chi_Minh', means: 'Vietnam Standard Time' },
};

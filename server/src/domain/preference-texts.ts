/** The words of the preference page. Names and descriptions of topics are the workspace's. */
export type PreferenceTexts = {
  /** The heading. @param sender name of the workspace, not escaped */
  title: (sender: string) => string;
  /** The heading where the workspace is not known. */
  settings: string;
  choose: string;
  save: string;
  leaveAll: string;
  saved: string;
  /** The workspace has no topics. */
  nothing: string;
  expired: string;
  invalid: string;
  unreadable: string;
  tooMany: string;
};

export const preferenceLanguages = ['en', 'de', 'es', 'fr', 'it', 'nl', 'pt'] as const;
export type PreferenceLanguage = (typeof preferenceLanguages)[number];

export const preferenceTexts: Record<PreferenceLanguage, PreferenceTexts> = {
  en: {
    title: (sender) => `Messages from ${sender}`,
    settings: 'Message settings',
    choose: 'Choose which messages you want to get.',
    save: 'Save',
    leaveAll: 'Leave all',
    saved: 'Your choice is saved.',
    nothing: 'There is nothing to choose from at present.',
    expired: 'This link has expired. Please open a newer message, or ask the sender for a new link.',
    invalid: 'This link is not valid. Please open the whole link, or ask the sender for a new one.',
    unreadable: 'Your choice was not saved. Please open the link again, and press Save on the page.',
    tooMany: 'Too many attempts. Please wait a minute, and try again.',
  },
  de: {
    title: (sender) => `Nachrichten von ${sender}`,
    settings: 'Einstellungen für Nachrichten',
    choose: 'Wählen Sie, welche Nachrichten Sie erhalten möchten.',
    save: 'Speichern',
    leaveAll: 'Alle abbestellen',
    saved: 'Ihre Auswahl ist gespeichert.',
    nothing: 'Zurzeit gibt es nichts auszuwählen.',
    expired:
      'Dieser Link ist abgelaufen. Öffnen Sie bitte eine neuere Nachricht, oder bitten Sie den Absender um einen neuen Link.',
    invalid: 'Dieser Link ist ungültig. Öffnen Sie bitte den ganzen Link, oder bitten Sie den Absender um einen neuen.',
    unreadable:
      'Ihre Auswahl wurde nicht gespeichert. Öffnen Sie bitte den Link noch einmal, und drücken Sie auf der Seite „Speichern“.',
    tooMany: 'Zu viele Versuche. Bitte warten Sie eine Minute, und versuchen Sie es noch einmal.',
  },
  es: {
    title: (sender) => `Mensajes de ${sender}`,
    settings: 'Ajustes de mensajes',
    choose: 'Elija qué mensajes quiere recibir.',
    save: 'Guardar',
    leaveAll: 'Darse de baja de todos',
    saved: 'Su elección se ha guardado.',
    nothing: 'De momento no hay nada que elegir.',
    expired: 'Este enlace ha caducado. Abra un mensaje más reciente o pida un enlace nuevo al remitente.',
    invalid: 'Este enlace no es válido. Abra el enlace completo o pida uno nuevo al remitente.',
    unreadable: 'Su elección no se ha guardado. Abra el enlace de nuevo y pulse «Guardar» en la página.',
    tooMany: 'Demasiados intentos. Espere un minuto y vuelva a intentarlo.',
  },
  fr: {
    title: (sender) => `Messages de ${sender}`,
    settings: 'Paramètres des messages',
    choose: 'Choisissez les messages que vous souhaitez recevoir.',
    save: 'Enregistrer',
    leaveAll: 'Tout refuser',
    saved: 'Votre choix est enregistré.',
    nothing: 'Il n’y a rien à choisir pour le moment.',
    expired: 'Ce lien a expiré. Ouvrez un message plus récent ou demandez un nouveau lien à l’expéditeur.',
    invalid: 'Ce lien n’est pas valide. Ouvrez le lien complet ou demandez-en un nouveau à l’expéditeur.',
    unreadable:
      'Votre choix n’a pas été enregistré. Ouvrez de nouveau le lien et appuyez sur « Enregistrer » sur la page.',
    tooMany: 'Trop de tentatives. Attendez une minute, puis réessayez.',
  },
  it: {
    title: (sender) => `Messaggi di ${sender}`,
    settings: 'Impostazioni dei messaggi',
    choose: 'Scegli quali messaggi vuoi ricevere.',
    save: 'Salva',
    leaveAll: 'Rifiuta tutti',
    saved: 'La tua scelta è stata salvata.',
    nothing: 'Al momento non c’è nulla da scegliere.',
    expired: 'Questo link è scaduto. Apri un messaggio più recente o chiedi un nuovo link al mittente.',
    invalid: 'Questo link non è valido. Apri il link completo o chiedine uno nuovo al mittente.',
    unreadable: 'La tua scelta non è stata salvata. Apri di nuovo il link e premi «Salva» nella pagina.',
    tooMany: 'Troppi tentativi. Attendi un minuto e riprova.',
  },
  nl: {
    title: (sender) => `Berichten van ${sender}`,
    settings: 'Instellingen voor berichten',
    choose: 'Kies welke berichten u wilt ontvangen.',
    save: 'Opslaan',
    leaveAll: 'Alles afmelden',
    saved: 'Uw keuze is opgeslagen.',
    nothing: 'Er valt op dit moment niets te kiezen.',
    expired: 'Deze link is verlopen. Open een nieuwer bericht of vraag de afzender om een nieuwe link.',
    invalid: 'Deze link is niet geldig. Open de hele link of vraag de afzender om een nieuwe.',
    unreadable: 'Uw keuze is niet opgeslagen. Open de link opnieuw en druk op de pagina op ‘Opslaan’.',
    tooMany: 'Te veel pogingen. Wacht een minuut en probeer het opnieuw.',
  },
  pt: {
    title: (sender) => `Mensagens de ${sender}`,
    settings: 'Definições de mensagens',
    choose: 'Escolha as mensagens que quer receber.',
    save: 'Guardar',
    leaveAll: 'Recusar todas',
    saved: 'A sua escolha foi guardada.',
    nothing: 'De momento não há nada para escolher.',
    expired: 'Esta ligação expirou. Abra uma mensagem mais recente ou peça uma nova ligação ao remetente.',
    invalid: 'Esta ligação não é válida. Abra a ligação completa ou peça uma nova ao remetente.',
    unreadable: 'A sua escolha não foi guardada. Abra a ligação de novo e prima «Guardar» na página.',
    tooMany: 'Demasiadas tentativas. Aguarde um minuto e tente de novo.',
  },
};

// A browser sends a handful; more would only cost time.
const maxRanges = 20;

/**
 * Returns the language of the page that a browser prefers most (RFC 9110 §12.5.4); English if it names none of them. A range with
 * a region, such as `de-AT`, accepts the language.
 */
export function choosePreferenceLanguage(acceptLanguage: string | undefined): PreferenceLanguage {
  let chosen: PreferenceLanguage = 'en';
  let best = 0;
  for (const range of (acceptLanguage ?? '').split(',', maxRanges)) {
    const [, tag, quality = '1'] =
      /^\s*([A-Za-z]{1,8})(?:-[A-Za-z0-9-]*)?\s*(?:;\s*q=([01](?:\.\d{0,3})?)\s*)?$/.exec(range) ?? [];
    const language = preferenceLanguages.find((known) => known === tag?.toLowerCase());
    // Of equal ones the first counts.
    if (language === undefined || Number(quality) <= best) continue;
    chosen = language;
    best = Number(quality);
  }
  return chosen;
}

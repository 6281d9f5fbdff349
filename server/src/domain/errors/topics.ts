/** Errors of topics. */
export const topicRegistry = {
  TOPIC_IN_USE: {
    status: 409,
    text: 'A campaign that still sends names this topic.',
    advice:
      'Stop the campaigns that the response names, or wait until they have ended. Without its topic a campaign would reach users who left it.',
  },
} as const;

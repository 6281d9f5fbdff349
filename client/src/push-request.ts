/** A push request as interface v2.1 takes it; appId and signature are added by the client. */
export type PushRequest = {
  /** At least 5 characters; unique unless the audience is `User`. */
  campaignName: string;
  requestId?: string;
  targetPlatform: ('ANDROID' | 'IOS' | 'WEB')[];
  targetAudience: 'All Users' | 'Custom Segment' | 'User';
  customSegmentName?: string;
  targetUserAttributes?: {
    attribute: string;
    comparisonParameter: 'is' | 'in';
    attributeValue: string | string[];
    isCustom?: boolean;
  };
  payload: { ANDROID?: PushPayload; IOS?: PushPayload; WEB?: PushPayload & { redirectURL: string; iconURL: string } };
  campaignDelivery:
    | { type: 'soon' }
    | { type: 'later'; date: string; time: string; timezone?: string }
    | { type: 'periodic'; endDate: string; time: string; timezone?: string; repeatAfter: string };
  campaignTags?: string[];
  conversionGoals?: object[];
  advancedSettings?: Record<string, unknown>;
};

export type PushPayload = { title: string; message: string; [field: string]: unknown };

export type PushAnswer = { status: 'Success'; requestId: string; responseId: string; cid: string };

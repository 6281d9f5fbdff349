export declare class Integration {
  tokensAsked: number;
  constructor(account: { baseUrl: string; clientId: string; oauthKey: string; pushKey: string });
  sendDaily(campaignName: string, delivery: { time: string; endDate: string; timezone: string }): Promise<string>;
  findCampaigns(name: string): Promise<{ id: string; channel: string }[]>;
  executions(campaignId: string): Promise<{ id: string; sent_time: string; status: string }[]>;
}

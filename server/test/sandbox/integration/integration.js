// An integration by plain fetch as somebody writes it who has docs/spec/interface.md and nothing else; `baseUrl` is what
// changes.
import { createHash } from 'node:crypto';

export class Integration {
  #account;
  #token;
  tokensAsked = 0;

  /** @param account baseUrl, clientId, oauthKey, pushKey */
  constructor(account) {
    this.#account = account;
  }

  async #newToken() {
    const { baseUrl, clientId, oauthKey } = this.#account;
    this.tokensAsked += 1;
    const answer = await fetch(`${baseUrl}/v1/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: clientId,
        client_secret: oauthKey,
      }),
    });
    const { status, data, reason } = await answer.json();
    if (status !== 'SUCCESS') throw new Error(reason);
    return data.access_token;
  }

  /** Asks for a token once it has expired, and calls again. */
  async #call(path, body) {
    for (let attempt = 1; ; attempt += 1) {
      this.#token ??= await this.#newToken();
      const answer = await fetch(`${this.#account.baseUrl}${path}`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${this.#token}`, 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      });
      if (answer.ok) return answer.json();
      if (answer.status !== 401 || attempt === 2) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
      this.#token = undefined;
    }
  }

  /** @returns the campaign's id */
  async sendDaily(campaignName, { time, endDate, timezone }) {
    const { baseUrl, clientId, pushKey } = this.#account;
    const answer = await fetch(`${baseUrl}/v2.1/transaction/sendpush`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        'X-SVC-APPKEY': clientId,
        'X-SVC-PushAPI-Signature': createHash('sha256').update(`${clientId}|${campaignName}|${pushKey}`).digest('hex'),
        'X-SVC-Query-Type': 'all users',
      },
      body: JSON.stringify({
        campaignName,
        targetAudience: 'All Users',
        targetPlatform: ['ANDROID'],
        payload: { ANDROID: { title: campaignName, message: 'Good morning' } },
        campaignDelivery: { type: 'periodic', time, endDate, timezone, repeatAfter: '1' },
      }),
    });
    const { status, cid, Error_Message: reason } = await answer.json();
    if (status !== 'Success') throw new Error(reason);
    return cid;
  }

  /** Campaigns of that name: V5 search returns up to 15 a page, and a page with fewer is the last. */
  async findCampaigns(name) {
    const found = [];
    for (let page = 1; ; page += 1) {
      const { data } = await this.#call('/v5/campaigns/search', { campaign_fields: { name }, limit: 15, page });
      found.push(...data.campaigns);
      if (data.campaigns.length < 15) return found;
    }
  }

  async executions(campaignId) {
    const found = [];
    for (let page = 1; ; page += 1) {
      const { data } = await this.#call(`/v5/campaigns/${campaignId}/executions`, { limit: 15, page });
      found.push(...data.executions);
      if (data.executions.length < 15) return found;
    }
  }
}

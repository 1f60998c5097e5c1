/**
 * Web services that receive notifications, with the checks, limits, errors and rendering that their vendors document.
 * They record the visible text, and the markup in it.
 */

import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestEnd } from '../cleanup.ts'
import { renderDiscord, renderSlack, renderTeams, renderTelegram } from './render.ts'
import { verifyWebhook } from './verify-webhook.ts'

export type Vendor = 'webhook' | 'ntfy' | 'slack' | 'teams' | 'discord' | 'telegram' | 'gotify' | 'apprise'

/** A message as a person sees it. */
export interface Shown {
  readonly title: string | null
  readonly text: string
  /** Parts of the text that the service treats as markup, mentions or commands. */
  readonly markup: readonly string[]
  /** The addresses that a person can open from it. */
  readonly links: readonly string[]
  readonly priority: string | number | null
  readonly headers: IncomingMessage['headers']
}

export interface Reply {
  readonly status: number
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** The accepted message. */
  readonly shown?: Omit<Shown, 'headers'>
}

interface VendorRequest {
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingMessage['headers']
  readonly text: string
  readonly json: Readonly<Record<string, unknown>>
}

export const keys = {
  slack: '/services/T0123/B0123/slackSecretKey0123456789',
  discord: '/api/webhooks/123456/discordSecretKey0123456789',
  teams: '/workflows/0123/triggers/manual/paths/invoke?api-version=1&sig=teamsSecretKey0123456789',
  telegram: '123456:telegramSecretKey0123456789',
  ntfy: 'tk_ntfySecretKey0123456789',
  gotify: 'AgotifySecretKey.0123456789',
  apprise: 'crew',
  webhook: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
} as const satisfies Record<Vendor, string>

export interface Vendors {
  /** The address of the server; `config` has those of the services. */
  readonly origin: string
  readonly config: Readonly<Record<Vendor, Readonly<Record<string, unknown>>>>
  readonly shown: Readonly<Record<Vendor, Shown[]>>
  /** Makes a service give these answers first. */
  readonly answers: Record<Vendor, Reply[]>
}

/** Starts all services on one port. */
export async function startVendors(): Promise<Vendors> {
  const shown = forEachVendor<Shown[]>(() => [])
  const answers = forEachVendor<Reply[]>(() => [])
  const listener = async (request: IncomingMessage, response: ServerResponse) => {
    const received = await readRequest(request)
    const vendor = vendorOf(received.path)
    const reply = answers[vendor].shift() ?? replyOf[vendor](received)
    if (reply.shown !== undefined) shown[vendor].push({ ...reply.shown, headers: request.headers })
    const isText = typeof reply.body === 'string'
    response.writeHead(reply.status, { 'content-type': isText ? 'text/plain' : 'application/json', ...reply.headers })
    response.end(reply.body === undefined ? '' : isText ? reply.body : JSON.stringify(reply.body))
  }
  const origin = await listen((request, response) => void listener(request, response))
  return { origin, shown, answers, config: configsFor(origin) }
}

/** Listens on a free port until the test ends, and returns the origin. */
export async function listen(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestEnd(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

export function configsFor(origin: string): Record<Vendor, Record<string, unknown>> {
  return {
    webhook: { url: `${origin}/hook?venue=1` },
    ntfy: { url: origin, topic: 'mics', token: keys.ntfy },
    slack: { url: origin + keys.slack },
    teams: { url: origin + keys.teams },
    discord: { url: origin + keys.discord },
    telegram: { server: `${origin}/telegram`, token: keys.telegram, chat_id: -100123 },
    gotify: { url: `${origin}/gotify/`, token: keys.gotify },
    apprise: { url: `${origin}/apprise`, key: keys.apprise, tag: 'rf' },
  }
}

function forEachVendor<T>(create: () => T): Record<Vendor, T> {
  return Object.fromEntries(Object.keys(keys).map((vendor) => [vendor, create()])) as Record<Vendor, T>
}

function vendorOf(path: string): Vendor {
  const prefixes = {
    '/services/': 'slack',
    '/api/webhooks/': 'discord',
    '/workflows/': 'teams',
    '/telegram/': 'telegram',
    '/gotify/': 'gotify',
    '/apprise/': 'apprise',
    '/hook': 'webhook',
  } as const
  return Object.entries(prefixes).find(([prefix]) => path.startsWith(prefix))?.[1] ?? 'ntfy'
}

async function readRequest(request: IncomingMessage): Promise<VendorRequest> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  // Throws if the bytes are not UTF-8.
  const text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks))
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://vendor')
  return { path: pathname, query: searchParams, headers: request.headers, text, json: JSON.parse(text) }
}

const replyOf: Readonly<Record<Vendor, (request: VendorRequest) => Reply>> = {
  webhook(request) {
    const problem = verifyWebhook(keys.webhook, request.headers, request.text)
    if (problem !== null) return { status: 401, body: { error: problem } }
    return accept(204, undefined, { text: request.text })
  },

  /** https://docs.ntfy.sh/publish/, and the limits of server.go. */
  ntfy({ path, headers, text, json }) {
    const error = (status: number, code: number, message: string) => ({
      status,
      body: { code, http: status, error: message },
    })
    if (path !== '/') return error(404, 40401, 'page not found')
    if (headers.authorization !== `Bearer ${keys.ntfy}`) return error(403, 40301, 'forbidden')
    if (Buffer.byteLength(text) > 8192) return error(413, 41303, 'JSON body too large')
    const { topic, title, message, priority, tags, ...others } = json
    const { actions = [], ...optional } = others
    if (!hasOnly(optional, ['click'])) return error(400, 40024, 'unknown field')
    if (!areViews(actions)) return error(400, 40018, 'invalid request: actions invalid')
    if (typeof topic !== 'string' || !/^[-_A-Za-z0-9]{1,64}$/.test(topic)) return error(400, 40009, 'invalid topic')
    if (![1, 2, 3, 4, 5].includes(priority as number)) return error(400, 40007, 'invalid priority')
    if (typeof message !== 'string' || message === '') return error(400, 40000, 'empty message')
    if (Buffer.byteLength(message) > 4096) return error(400, 40014, 'attachments not allowed')
    if (!Array.isArray(tags) || tags.some((tag) => !/^[a-z_]+$/.test(tag))) return error(400, 40000, 'invalid tags')
    return accept(
      200,
      { id: 'sPs71M8A2T', event: 'message' },
      {
        title: String(title),
        text: message,
        priority: Number(priority),
        links: [...linksIn(message), ...actions.map(({ url }) => url)],
      },
    )
  },

  /** https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks/ */
  slack({ path, json }) {
    if (path !== keys.slack) return { status: 404, body: 'no_service' }
    const { text, ...others } = json
    if (!hasOnly(others, ['mrkdwn', 'unfurl_links', 'unfurl_media'])) return { status: 400, body: 'invalid_payload' }
    if (typeof text !== 'string' || text === '') return { status: 400, body: 'no_text' }
    if (text.length > 40_000) return { status: 400, body: 'msg_too_long' }
    return accept(200, 'ok', renderSlack(text, json.mrkdwn !== false))
  },

  /** A workflow accepts every request, and posts the card afterwards. */
  teams({ query, text, json }) {
    if (query.get('sig') !== 'teamsSecretKey0123456789') {
      return {
        status: 401,
        body: { error: { code: 'DirectApiAuthorizationRequired', message: 'The request must be authenticated.' } },
      }
    }
    if (Buffer.byteLength(text) > 28 * 1024) return { status: 413, body: 'Request Entity Too Large' }
    return accept(202, undefined, renderTeams(json))
  },

  /** https://discord.com/developers/docs/resources/webhook#execute-webhook */
  discord({ path, query, json }) {
    if (path !== keys.discord) return { status: 404, body: { message: 'Unknown Webhook', code: 10015 } }
    const { content, allowed_mentions, ...others } = json
    const invalid = (what: string) => ({
      status: 400,
      body: { message: 'Invalid Form Body', code: 50035, errors: { what } },
    })
    if (!hasOnly(others, [])) return invalid('unknown field')
    if (typeof content !== 'string' || content.trim() === '')
      return { status: 400, body: { message: 'Cannot send an empty message', code: 50006 } }
    if (content.length > 2000) return invalid('content: must be 2000 or fewer in length')
    const mayMention = JSON.stringify(allowed_mentions) !== '{"parse":[]}'
    const body = query.get('wait') === 'true' ? { id: '1', content } : undefined
    return accept(body === undefined ? 204 : 200, body, renderDiscord(content, mayMention))
  },

  /** https://core.telegram.org/bots/api#sendmessage */
  telegram({ path, json }) {
    const error = (status: number, description: string) => ({
      status,
      body: { ok: false, error_code: status, description },
    })
    if (path !== `/telegram/bot${keys.telegram}/sendMessage`) return error(404, 'Not Found')
    const { chat_id, text, ...others } = json
    if (!hasOnly(others, ['link_preview_options', 'parse_mode'])) return error(400, 'Bad Request: unknown parameter')
    if (String(chat_id) !== '-100123') return error(400, 'Bad Request: chat not found')
    if (typeof text !== 'string' || text.trim() === '') return error(400, 'Bad Request: message text is empty')
    if (text.length > 4096) return error(400, 'Bad Request: message is too long')
    return accept(200, { ok: true, result: { message_id: 1 } }, renderTelegram(text, json.parse_mode !== undefined))
  },

  /** https://gotify.net/api-docs */
  gotify({ path, headers, json }) {
    const error = (status: number, kind: string, description: string) => ({
      status,
      body: { error: kind, errorCode: status, errorDescription: description },
    })
    if (path !== '/gotify/message') return error(404, 'Not Found', 'page not found')
    if (headers['x-gotify-key'] !== keys.gotify)
      return error(401, 'Unauthorized', 'you need to provide a valid access token')
    const { title, message, priority, extras, ...others } = json
    if (!hasOnly(others, [])) return error(400, 'Bad Request', 'unknown field')
    if (typeof message !== 'string' || message === '') return error(400, 'Bad Request', "Field 'message' is required")
    if (!Number.isInteger(priority)) return error(400, 'Bad Request', "Field 'priority' must be a number")
    const isPlain = JSON.stringify(extras).includes('"client::display":{"contentType":"text/plain"}')
    return accept(
      200,
      { id: 25, appid: 5 },
      { title: String(title), text: message, priority: Number(priority), markup: isPlain ? [] : ['Markdown'] },
    )
  },

  /** https://github.com/caronc/apprise-api#api-details */
  apprise({ path, json }) {
    const { title, body, type, format, tag, urls, ...others } = json
    const error = (message: string) => ({ status: 400, body: { error: message } })
    if (!hasOnly(others, [])) return error('unknown field')
    if (typeof body !== 'string' || body === '') return error('Payload lacks minimum requirements')
    if (!['info', 'success', 'warning', 'failure'].includes(String(type))) return error('Invalid message type')
    if (path !== '/apprise/notify/' && path !== `/apprise/notify/${keys.apprise}`) return { status: 204 }
    // Without urls, the server notifies the services of its setting APPRISE_STATELESS_URLS.
    const target = path === '/apprise/notify/' ? (urls ?? 'default') : tag
    const markup = format === 'text' ? [] : [String(format)]
    return accept(
      200,
      { details: [target], error: null },
      { title: String(title), text: body, priority: String(type), markup },
    )
  },
}

/** ntfy allows three actions. */
function areViews(actions: unknown): actions is readonly { readonly url: string }[] {
  const isView = ({ action, label, url, ...others }: Record<string, unknown>) =>
    action === 'view' && typeof label === 'string' && URL.canParse(String(url)) && hasOnly(others, [])
  return Array.isArray(actions) && actions.length <= 3 && actions.every(isView)
}

function linksIn(text: string): readonly string[] {
  return text.match(/https:\/\/[^\s"]+/g) ?? []
}

function hasOnly(fields: object, allowed: readonly string[]): boolean {
  return Object.keys(fields).every((name) => allowed.includes(name))
}

function accept(status: number, body: unknown, shown: Partial<Shown> & Pick<Shown, 'text'>): Reply {
  const links = linksIn(shown.text)
  return { status, body, shown: { title: null, markup: [], links, priority: null, ...shown } }
}

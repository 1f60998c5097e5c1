/**
 * Reads Planning Center Services: service types, plans, and the people in a plan. Its interface is JSON:API 1.0.
 * Requests go only to the configured address; only the query of the link to the next page is used.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Picture } from '../domain/equipment/picture.ts'
import {
  PlanningCenterError,
  type PlanSummary,
  type ScheduledPerson,
  type ServicePlan,
  type ServiceTime,
  type ServiceType,
} from '../domain/imports/planning-center.ts'
import { isRecord, type Json } from '../domain/json.ts'
import { parseTimestamp } from '../domain/timestamp.ts'
import type { Credentials } from './authorize.ts'
import { createUpstreamClient, type UpstreamClient } from './client.ts'
import { type Destinations, withoutLinkLocal } from './destinations.ts'
import { ApiError, ApiRateLimitError, codeOf, describeServiceError } from './errors.ts'
import { maxNameChars, readText } from './fields.ts'
import { loadPictures } from './pictures.ts'

interface PlanningCenterOptions {
  /** Without a path, that of the Services interface is added. */
  readonly url: string
  readonly destinations: Destinations
  /** Default: 10 s for a request, 20 s for all photos of a plan. */
  readonly timeoutMs?: number
}

const servicesPath = '/services/v2'
const version = '2018-11-01'
/** At most 100 requests in any 20 s, the limit per user. */
const rateLimit = { perSecond: 4, burst: 20 }
/** Photos are at avatars.planningcenteronline.com, the silhouettes of other people at people.planningcenteronline.com. */
const photoOrigin = /^https:\/\/([a-z0-9-]+\.)*planningcenteronline\.com$/
const pageSize = 100
const maxPages = 50
const photosTimeoutMs = 20_000
/** The longest wait for the rate limit in one operation. */
const maxWaitMs = 30_000
const defaultWaitSeconds = 20

export function createPlanningCenter(options: PlanningCenterOptions): PlanningCenterClient {
  return new PlanningCenterClient(options)
}

/** All methods throw a `PlanningCenterError`, or the reason of the signal. */
class PlanningCenterClient {
  readonly #base: URL
  readonly #destinations: Destinations
  readonly #timeoutMs: number

  constructor({ url, destinations, timeoutMs = 10_000 }: PlanningCenterOptions) {
    this.#base = new URL(url)
    if (this.#base.pathname === '/') this.#base.pathname = servicesPath
    this.#destinations = withoutLinkLocal(destinations)
    this.#timeoutMs = timeoutMs
  }

  get origin(): string {
    return this.#base.origin
  }

  listServiceTypes(token: string, signal: AbortSignal): Promise<ServiceType[]> {
    return this.#connect(token, signal, async (connection) => {
      const { data } = await connection.list('/service_types', { order: 'name' })
      return data.flatMap(toServiceType)
    })
  }

  listPlans(token: string, serviceType: string, signal: AbortSignal): Promise<PlanSummary[]> {
    return this.#connect(token, signal, async (connection) => {
      const query = { filter: 'future', order: 'sort_date', per_page: '25' }
      const body = await connection.get(`${pathOf(serviceType)}/plans`, query)
      return readList(body).data.flatMap(toPlan)
    })
  }

  loadPlan(token: string, serviceType: string, plan: string | null, signal: AbortSignal): Promise<ServicePlan | null> {
    return this.#connect(token, signal, async (connection) => {
      const [service_type] = toServiceType(readRecord(await connection.get(pathOf(serviceType), {})))
      if (service_type === undefined) return null
      const plans = `${pathOf(serviceType)}/plans`
      const body =
        plan === null
          ? readList(await connection.get(plans, { filter: 'future', order: 'sort_date', per_page: '1' })).data[0]
          : readRecord(await connection.get(`${plans}/${encodeURIComponent(plan)}`, {}))
      const [summary] = body === undefined ? [] : toPlan(body)
      if (summary === undefined) return null
      const path = `${plans}/${encodeURIComponent(summary.id)}`
      const times = await connection.list(`${path}/plan_times`, {})
      const members = await connection.list(`${path}/team_members`, { filter: 'not_declined', include: 'person,team' })
      return {
        ...summary,
        service_type,
        times: times.data.flatMap(toServiceTime).sort((a, b) => a.starts_at - b.starts_at),
        people: members.data.flatMap((member) => toPerson(member, members.included)),
      }
    })
  }

  async loadPhotos(addresses: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, Picture>> {
    const loaded = await loadPictures(
      addresses.filter((address) => this.#isPhoto(address)),
      {
        destinations: this.#destinations,
        signal,
        timeoutMs: this.#timeoutMs,
        totalMs: Math.max(photosTimeoutMs, this.#timeoutMs),
      },
    )
    return new Map([...loaded].flatMap(([address, photo]) => (typeof photo === 'string' ? [] : [[address, photo]])))
  }

  /**
   * Photos are requested only from Planning Center's own hosts and the configured one, because a plan could name any
   * service in this network.
   */
  #isPhoto(address: string): boolean {
    if (!URL.canParse(address)) return false
    const { origin, username, password } = new URL(address)
    return (origin === this.#base.origin || photoOrigin.test(origin)) && username === '' && password === ''
  }

  async #connect<T>(token: string, signal: AbortSignal, use: (connection: Connection) => Promise<T>): Promise<T> {
    const at = token.indexOf(':')
    const credentials = { scheme: 'basic', username: token.slice(0, at), secret: token.slice(at + 1) } as const
    const client = this.#open(this.#base.href.replace(/\/$/, ''), credentials)
    try {
      return await use(new Connection(client, signal))
    } finally {
      await client.close()
    }
  }

  #open(baseUrl: string, credentials: Credentials): UpstreamClient {
    const settings = { baseUrl, timeoutMs: this.#timeoutMs, rateLimit, credentials, verifySsl: true }
    return createUpstreamClient({ settings, errors: { ApiError, ApiRateLimitError }, destinations: this.#destinations })
  }
}

/** The requests of one operation share a limited waiting time for the rate limit. */
class Connection {
  readonly #client: UpstreamClient
  readonly #signal: AbortSignal
  #waitedMs = 0
  /** The pause before the next request. */
  #paceMs = 0

  constructor(client: UpstreamClient, signal: AbortSignal) {
    this.#client = client
    this.#signal = signal
  }

  async get(path: string, query: Readonly<Record<string, string>>): Promise<unknown> {
    const search = new URLSearchParams(query).toString()
    return this.#request(search === '' ? path : `${path}?${search}`)
  }

  async list(path: string, query: Readonly<Record<string, string>>): Promise<Pick<List, 'data' | 'included'>> {
    const data: Json[] = []
    const included: Json[] = []
    let next: string | null = `?${new URLSearchParams({ ...query, per_page: String(pageSize) })}`
    for (let page = 0; next !== null; page++) {
      if (page === maxPages) throw new PlanningCenterError('away', `Planning Center sent more than ${maxPages} pages.`)
      const list = readList(await this.#request(path + next))
      data.push(...list.data)
      included.push(...list.included)
      next = list.next
    }
    return { data, included }
  }

  async #request(path: string): Promise<unknown> {
    for (;;) {
      try {
        await this.#pause(this.#paceMs)
        const requestHeaders = { 'x-pco-api-version': version, 'user-agent': 'Micwatch' }
        const { headers, body } = await this.#client.request('GET', path, {
          headers: requestHeaders,
          kind: 'list',
          signal: this.#signal,
        })
        this.#paceMs = paceMs(headers)
        return body
      } catch (error) {
        this.#signal.throwIfAborted()
        if (!(error instanceof ApiError)) throw error
        if (error.status !== 429) throw toFailure(error, new URL(this.#client.settings.baseUrl).host)
        await this.#waitForLimit(error.retryAfter ?? defaultWaitSeconds)
      }
    }
  }

  async #waitForLimit(seconds: number): Promise<void> {
    const waitMs = Math.max(seconds * 1000, this.#client.holdMs)
    if (this.#waitedMs + waitMs > maxWaitMs) {
      const message = `Planning Center accepts no more requests for ${seconds} s. Try again then.`
      throw new PlanningCenterError('limited', message, seconds)
    }
    this.#waitedMs += waitMs
    // A timer may fire slightly too early.
    await this.#pause(waitMs + 20)
  }

  /** Rejects with the reason of the signal when it aborts. */
  async #pause(ms: number): Promise<void> {
    if (ms === 0) return
    await sleep(ms, undefined, { signal: this.#signal }).catch((error) => {
      this.#signal.throwIfAborted()
      throw error
    })
  }
}

/**
 * Returns the pause before the next request. Other programs may use the limit of the same user, and the limit may
 * change at any time. Once half of it is used, the other half is spread over a whole period. Format: Planning Center's
 * description of rate limits (`X-PCO-API-Request-Rate-Limit`, `-Period`, `-Count`).
 */
function paceMs(headers: Readonly<Record<string, string>>): number {
  const [limit = 0, seconds = 0, count = 0] = ['limit', 'period', 'count'].map((name) =>
    Number.parseInt(headers[`x-pco-api-request-rate-${name}`] ?? '', 10),
  )
  const isHalfUsed = limit > 0 && seconds > 0 && count > limit / 2
  return isHalfUsed ? (2_000 * seconds) / limit : 0
}

function pathOf(serviceType: string): string {
  return `/service_types/${encodeURIComponent(serviceType)}`
}

function toFailure({ status, message, cause }: ApiError, host: string): PlanningCenterError {
  const refused = refusals[status ?? 0]
  if (refused !== undefined) return new PlanningCenterError('refused', refused)
  if (status !== null && status >= 400 && status < 500) {
    const text = `Planning Center refused the request with status ${status}. Check MICWATCH_PLANNING_CENTER_URL.`
    return new PlanningCenterError('refused', text)
  }
  return new PlanningCenterError('away', `Planning Center is not available: ${describe(status, message, cause, host)}.`)
}

const refusals: Readonly<Record<number, string>> = {
  401: 'Planning Center does not accept this token. Check the application id and the secret, or create a new personal access token at api.planningcenteronline.com/oauth/applications.',
  403: 'The owner of this token may not view this in Planning Center. Give them the role Viewer for the service type, or use the token of another user.',
  404: 'Planning Center has no such service type or plan, or the owner of this token may not view it. Choose another one.',
}

function describe(status: number | null, message: string, cause: unknown, host: string): string {
  const code = codeOf(cause)
  if (status !== null && status >= 300 && status < 400)
    return `${host} responded with a redirect; check whether this network requires a sign-in`
  if (status !== null && status >= 500) return `${host} responded with status ${status}`
  return describeServiceError(code, host) ?? message
}

/** One page of a list. */
export interface List {
  readonly data: readonly Json[]
  readonly included: readonly Json[]
  /** The query of the next page, with its question mark; null on the last page. */
  readonly next: string | null
}

function readList(body: unknown): List {
  if (!isRecord(body) || !Array.isArray(body.data)) throw unusable()
  const { data, included, links } = body
  const next = isRecord(links) ? links.next : null
  return {
    data: data.filter(isRecord),
    included: Array.isArray(included) ? included.filter(isRecord) : [],
    next: typeof next === 'string' && URL.canParse(next) ? new URL(next).search : null,
  }
}

function readRecord(body: unknown): Json {
  if (!isRecord(body) || !isRecord(body.data)) throw unusable()
  return body.data
}

function unusable(): PlanningCenterError {
  return new PlanningCenterError(
    'away',
    'Planning Center is not available: it sent a response that Micwatch cannot read.',
  )
}

function toServiceType(record: Json): ServiceType[] {
  const { id, attributes } = partsOf(record)
  const name = readText(attributes.name, maxNameChars)
  const isHidden = attributes.archived_at != null || attributes.deleted_at != null
  return id === null || name == null || isHidden ? [] : [{ id, name }]
}

function toPlan(record: Json): PlanSummary[] {
  const { id, attributes } = partsOf(record)
  const title = readText(attributes.title, maxNameChars) ?? readText(attributes.series_title, maxNameChars) ?? null
  return id === null ? [] : [{ id, title, dates: readText(attributes.dates, maxNameChars) ?? '' }]
}

/** Skips rehearsals. */
function toServiceTime(record: Json): ServiceTime[] {
  const { id, attributes } = partsOf(record)
  const { starts_at, ends_at, time_type } = attributes
  const starts = typeof starts_at === 'string' ? parseTimestamp(starts_at) : null
  if (id === null || starts === null || time_type !== 'service') return []
  const name = readText(attributes.name, maxNameChars) ?? null
  return [{ id, name, starts_at: starts, ends_at: typeof ends_at === 'string' ? parseTimestamp(ends_at) : null }]
}

/** The position of people who are scheduled without one is the name of their team. */
function toPerson(record: Json, included: readonly Json[]): ScheduledPerson[] {
  const { attributes, relationships } = partsOf(record)
  const person = findIncluded(included, 'Person', relationships.person)
  const team = readText(findIncluded(included, 'Team', relationships.team).name, maxNameChars) ?? ''
  const name = readText(attributes.name, maxNameChars) ?? readText(person.full_name, maxNameChars)
  const position = readText(attributes.team_position_name, maxNameChars) ?? team
  if (name == null || position === '' || /^d/i.test(String(attributes.status))) return []
  const photo = readText(attributes.photo_thumbnail) ?? readText(person.photo_thumbnail_url)
  const times = idsOf(relationships.service_times)
  return [{ name, position, team, times, photo: photo == null || isPlaceholderPhoto(photo) ? null : photo }]
}

/** Planning Center's picture of a person without a photo. */
function isPlaceholderPhoto(address: string): boolean {
  return /\/no_photo|\/uploads\/initials\//.test(address)
}

function partsOf({ id, attributes, relationships }: Json) {
  return {
    id: typeof id === 'string' && /^[\w-]{1,64}$/.test(id) ? id : null,
    attributes: isRecord(attributes) ? attributes : {},
    relationships: isRecord(relationships) ? relationships : {},
  }
}

function findIncluded(included: readonly Json[], type: string, relationship: unknown): Json {
  const [id] = idsOf(relationship)
  const found = included.find((record) => record.type === type && record.id === id)
  return id !== undefined && isRecord(found?.attributes) ? found.attributes : {}
}

/** Accepts a relationship to one record or to several. */
function idsOf(relationship: unknown): string[] {
  const data = isRecord(relationship) ? relationship.data : null
  const records: readonly unknown[] = Array.isArray(data) ? data : [data]
  return records.flatMap((record) => (isRecord(record) && typeof record.id === 'string' ? [record.id] : []))
}

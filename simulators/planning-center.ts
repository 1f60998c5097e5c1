/**
 * Simulates the scheduling part of Planning Center Services, as its reference and its public clients describe it.
 * Serves JSON:API 1.0 under `/services/v2`, with a personal access token as Basic authentication, pages, filters and
 * included records. Limit: 100 requests per user in 20 s, 75 when paging deep into a list. Photos need no token.
 */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Server } from 'node:net'
import { type Church, createChurch, type SimulatedPlan, type SimulatedServiceType } from './planning-center-church.ts'
import { type ApiResponse, applyFault, type Fault, type FaultScope, send } from './show/faults.ts'

export interface PlanningCenterOptions {
  /** Default 0: any free port. */
  readonly port?: number
  /** Current time in epoch milliseconds. */
  readonly now?: () => number
  /** Default: 100 requests in 20 s. */
  readonly rateLimit?: { readonly requests: number; readonly seconds: number }
  /** Default: a church with three plans. */
  readonly church?: Church
}

export interface PlanningCenterSimulator {
  /** The base address, without the path of the interface. */
  readonly url: string
  /** `<application id>:<secret>`. */
  readonly token: string
  /** May be changed at any time. */
  readonly church: Church
  /** The requests so far, including photos: method, target and status. */
  readonly requests: readonly LoggedRequest[]
  /** Sets a fault of all requests, including photos, unless the scope restricts it. */
  setFault(fault: Fault, scope?: FaultScope): void
  clearFaults(): void
  /** Later connections are refused. */
  close(): Promise<void>
}

interface LoggedRequest {
  readonly target: string
  readonly status: number
  readonly authorization: string | undefined
}

const token = '6a1f0c7d9be24d5f:pco_pat_5d2c81e0'
const prefix = '/services/v2'

export async function startPlanningCenter(options: PlanningCenterOptions = {}): Promise<PlanningCenterSimulator> {
  const { port = 0, now = Date.now, church = createChurch(now()) } = options
  const requests: LoggedRequest[] = []
  let fault: { readonly fault: Fault; readonly scope: FaultScope; left: number } | null = null
  const limiter = createLimiter(options.rateLimit ?? { requests: 100, seconds: 20 }, now)

  const respond = (request: IncomingMessage, response: ServerResponse, apiResponse: ApiResponse) => {
    const target = request.url ?? '/'
    const { authorization } = request.headers
    const isFaulty = fault !== null && fault.left > 0 && isInScope(fault.scope, target)
    const status = isFaulty && fault?.fault.type === 'status' ? fault.fault.status : apiResponse.status
    requests.push({ target, status, authorization })
    if (fault === null || !isFaulty) {
      send(response, apiResponse)
      return
    }
    fault.left -= 1
    applyFault(fault.fault, request, response, apiResponse)
  }

  const respondWithPhoto = (request: IncomingMessage, response: ServerResponse) => {
    const target = request.url ?? '/'
    const [, id] = /^\/uploads\/person\/(\w+)-\d+\/avatar\.1\.png\?g=/.exec(target) ?? []
    const photo = church.people.find((person) => person.id === id)?.photo
    const hasFault = fault !== null && fault.left > 0 && isInScope(fault.scope, target)
    if (photo === undefined || photo === null || hasFault) {
      respond(request, response, { status: 404, body: 'Not found' })
      return
    }
    requests.push({ target, status: 200, authorization: request.headers.authorization })
    response.writeHead(200, { 'content-type': 'image/png', 'content-length': photo.length }).end(photo)
  }

  const server = createServer((request, response) => {
    if (/^\/(uploads|static)\//.test(request.url ?? '/')) {
      respondWithPhoto(request, response)
      return
    }
    const unauthorized = authorize(request)
    if (unauthorized !== null) {
      respond(request, response, unauthorized)
      return
    }
    const { headers, refusal } = limiter(request)
    const reply = refusal ?? handle(request, { church, now: now(), url })
    respond(request, response, { ...reply, headers: { ...headers, ...reply.headers } })
  })
  const url = await listen(server, port)

  return {
    url,
    token,
    church,
    requests,
    setFault(next, scope = {}) {
      fault = { fault: next, scope, left: scope.times ?? Number.POSITIVE_INFINITY }
    },
    clearFaults() {
      fault = null
    },
    close: () => close(server),
  }
}

function isInScope({ path }: FaultScope, target: string): boolean {
  return path === undefined || (typeof path === 'string' ? target.includes(path) : path.test(target))
}

async function listen(server: ReturnType<typeof createServer>, port: number): Promise<string> {
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function close(server: Server & { closeAllConnections?(): void }): Promise<void> {
  server.closeAllConnections?.()
  return new Promise((resolve) => server.close(() => resolve()))
}

/** Requests with a higher offset have a lower limit. */
const farOffset = 30_000
const farShare = 0.75

/** Counts the requests of the user in fixed periods, including rejected ones. */
function createLimiter(limit: { readonly requests: number; readonly seconds: number }, now: () => number) {
  let startedAt = Number.NEGATIVE_INFINITY
  let count = 0
  const { seconds } = limit
  return ({ url = '/' }: IncomingMessage) => {
    const offset = Number(new URL(url, 'http://planning-center').searchParams.get('offset'))
    const requests = offset > farOffset ? Math.floor(limit.requests * farShare) : limit.requests
    if (now() >= startedAt + seconds * 1000) {
      startedAt = now()
      count = 0
    }
    count += 1
    const headers = {
      'x-pco-api-request-rate-limit': String(requests),
      'x-pco-api-request-rate-period': `${seconds} seconds`,
      'x-pco-api-request-rate-count': String(count),
    }
    if (count <= requests) return { headers, refusal: null }
    const retryAfter = Math.max(1, Math.ceil((startedAt + seconds * 1000 - now()) / 1000))
    const detail = `Rate limit exceeded: ${count} of ${requests} requests per ${seconds} seconds`
    const body = { errors: [{ code: '429', detail }] }
    return { headers, refusal: { status: 429, headers: { 'retry-after': String(retryAfter) }, body } }
  }
}

function authorize({ headers }: IncomingMessage): ApiResponse | null {
  if (headers.authorization === `Basic ${Buffer.from(token).toString('base64')}`) return null
  const detail = 'Could not authenticate the request. Check the application id and the secret.'
  return { ...error(401, 'Unauthorized', detail), headers: { 'www-authenticate': 'Basic realm="Planning Center"' } }
}

function error(status: number, title: string, detail: string): ApiResponse {
  return { status, body: { errors: [{ status: String(status), code: String(status), title, detail }] } }
}

const notFound = () => error(404, 'Not Found', 'The resource you requested could not be found')

// --- Resources --------------------------------------------------------------------------------------------------------

interface Context {
  readonly church: Church
  readonly url: string
  readonly now: number
}

interface Resource {
  readonly type: string
  readonly id: string
  readonly attributes: Readonly<Record<string, unknown>>
  readonly relationships: Readonly<Record<string, { readonly data: unknown }>>
}

function handle({ method, url: target = '/' }: IncomingMessage, context: Context): ApiResponse {
  if (method !== 'GET') return error(405, 'Method Not Allowed', 'This address can only be read')
  const url = new URL(target, context.url)
  const [root, typeId, plans, planId, list, ...rest] = url.pathname.slice(prefix.length + 1).split('/')
  if (!url.pathname.startsWith(`${prefix}/`) || root !== 'service_types' || rest.length > 0) return notFound()
  if (typeId === undefined) {
    const types = context.church.serviceTypes.filter((type) => type.isHidden !== true)
    return toPage(url, types.map(toServiceType), { orders: ['name', 'sequence'] })
  }
  const type = context.church.serviceTypes.find(({ id }) => id === typeId)
  if (type === undefined) return notFound()
  if (type.isHidden === true) return error(403, 'Forbidden', 'You do not have access to this resource')
  if (plans === undefined) return { status: 200, body: { data: toServiceType(type), included: [] } }
  if (plans !== 'plans') return notFound()
  if (planId === undefined) {
    const found = filterPlans(type.plans, url.searchParams.get('filter'), context.now)
    return found === null
      ? error(400, 'Bad Request', 'filter is not supported')
      : toPage(
          url,
          found.map((plan) => toPlan(plan, type)),
          { orders: ['sort_date', 'title', 'created_at'] },
        )
  }
  const plan = type.plans.find(({ id }) => id === planId)
  if (plan === undefined) return notFound()
  switch (list) {
    case undefined:
      return { status: 200, body: { data: toPlan(plan, type), included: [] } }
    case 'plan_times':
      return toPage(url, plan.times.map(toPlanTime), { orders: ['starts_at'] })
    case 'team_members':
      return toMembers(url, plan, type, context)
    default:
      return notFound()
  }
}

function toServiceType({ id, name, sequence, isArchived = false }: SimulatedServiceType): Resource {
  const archived_at = isArchived ? '2024-01-01T12:00:00Z' : null
  const attributes = { name, sequence, archived_at, deleted_at: null, frequency: 'Weekly', permissions: 'Viewer' }
  return { type: 'ServiceType', id, attributes, relationships: { parent: { data: null } } }
}

function filterPlans(
  plans: readonly SimulatedPlan[],
  filter: string | null,
  now: number,
): readonly SimulatedPlan[] | null {
  const endOf = ({ times }: SimulatedPlan) => Math.max(...times.map(({ ends_at }) => ends_at))
  if (filter === null) return plans
  if (filter === 'future') return plans.filter((plan) => endOf(plan) > now)
  return filter === 'past' ? plans.filter((plan) => endOf(plan) <= now) : null
}

function toPlan({ id, title, dates, sort_date, people }: SimulatedPlan, type: SimulatedServiceType): Resource {
  const attributes = {
    title,
    series_title: null,
    dates,
    short_dates: dates,
    // The local time of the church, although it is marked as UTC.
    sort_date,
    plan_people_count: people.length,
    needed_positions_count: 0,
  }
  return { type: 'Plan', id, attributes, relationships: { service_type: reference('ServiceType', type.id) } }
}

function toPlanTime({ id, name, starts_at, ends_at, time_type }: SimulatedPlan['times'][number]): Resource {
  const attributes = { name, time_type, starts_at: toTime(starts_at), ends_at: toTime(ends_at), recorded: false }
  return { type: 'PlanTime', id, attributes, relationships: { assigned_teams: { data: [] } } }
}

function toTime(time: number): string {
  return new Date(time).toISOString().replace('.000Z', 'Z')
}

function reference(type: string, id: string) {
  return { data: { type, id } }
}

function toMembers(
  url: URL,
  { id, people, times }: SimulatedPlan,
  type: SimulatedServiceType,
  { church, url: origin }: Context,
): ApiResponse {
  const includes = (url.searchParams.get('include') ?? '').split(',').filter((name) => name !== '')
  const unknown = includes.find((name) => name !== 'person' && name !== 'team')
  if (unknown !== undefined) return error(400, 'Bad Request', `${unknown} cannot be included`)
  const filter = url.searchParams.get('filter')
  const statuses = { confirmed: 'C', not_declined: 'CU', not_archived: 'CUD', not_deleted: 'CUD' }[
    filter ?? 'not_deleted'
  ]
  if (statuses === undefined) return error(400, 'Bad Request', 'filter is not supported')
  const addressOf = (personId: string, geometry: string) => {
    const person = church.people.find((candidate) => candidate.id === personId)
    if (person?.photoAddress !== undefined) return person.photoAddress
    return person?.photo == null
      ? `${origin}/static/no_photo_thumbnail_gray.png?g=${geometry}`
      : `${origin}/uploads/person/${personId}-${person.photoVersion}/avatar.1.png?g=${geometry}`
  }
  const scheduled = people.filter(({ status }) => statuses.includes(status))
  const members = scheduled.map((member): Resource => {
    const person = church.people.find((candidate) => candidate.id === member.person)
    const serviceTimes = times.filter(
      (time) => time.time_type === 'service' && member.times?.includes(time.id) !== false,
    )
    const attributes = {
      name: person?.name ?? '',
      status: member.status,
      team_position_name: member.position,
      photo_thumbnail: addressOf(member.person, '200x200%23'),
      notes: null,
      decline_reason: null,
    }
    const relationships = {
      person: reference('Person', member.person),
      plan: reference('Plan', id),
      service_type: reference('ServiceType', type.id),
      team: reference('Team', member.team),
      times: { data: serviceTimes.map((time) => ({ type: 'PlanTime', id: time.id })) },
      service_times: { data: serviceTimes.map((time) => ({ type: 'PlanTime', id: time.id })) },
    }
    return { type: 'PlanPerson', id: member.id, attributes, relationships }
  })
  const include = (page: readonly Resource[]): Resource[] => {
    const shown = scheduled.filter((member) => page.some((resource) => resource.id === member.id))
    const persons = church.people.filter(({ id }) => shown.some((member) => member.person === id))
    const teams = church.teams.filter(({ id }) => shown.some((member) => member.team === id))
    return [
      ...(includes.includes('person') ? persons : []).map((person): Resource => {
        const attributes = {
          full_name: person.name,
          photo_url: addressOf(person.id, '220x1000%23'),
          photo_thumbnail_url: addressOf(person.id, '200x200%23'),
        }
        return { type: 'Person', id: person.id, attributes, relationships: {} }
      }),
      ...(includes.includes('team') ? teams : []).map(
        ({ id, name }): Resource => ({ type: 'Team', id, attributes: { name }, relationships: {} }),
      ),
    ]
  }
  return toPage(url, members, { orders: [], include })
}

// --- Pages ------------------------------------------------------------------------------------------------------------

interface PageOptions {
  /** The attributes by which the list can be ordered. */
  readonly orders: readonly string[]
  include?(page: readonly Resource[]): Resource[]
}

function toPage(url: URL, resources: readonly Resource[], { orders, include }: PageOptions): ApiResponse {
  const { searchParams } = url
  const order = searchParams.get('order')
  const field = order?.replace(/^-/, '') ?? null
  if (field !== null && !orders.includes(field)) return error(400, 'Bad Request', `order by ${field} is not supported`)
  const sorted = field === null ? resources : sortBy(resources, field, order?.startsWith('-') === true)
  const perPage = Math.min(100, Math.max(1, Number(searchParams.get('per_page') ?? 25) || 25))
  const offset = Math.max(0, Number(searchParams.get('offset') ?? 0) || 0)
  const data = sorted.slice(offset, offset + perPage)
  const next = offset + perPage < sorted.length ? offset + perPage : null
  const linkTo = (to: number) => {
    const link = new URL(url)
    link.searchParams.set('offset', String(to))
    return link.href
  }
  const body = {
    links: { self: url.href, ...(next !== null && { next: linkTo(next) }) },
    data,
    included: include?.(data) ?? [],
    meta: {
      total_count: sorted.length,
      count: data.length,
      ...(next !== null && { next: { offset: next } }),
      can_order_by: orders,
    },
  }
  return { status: 200, body }
}

function sortBy(resources: readonly Resource[], field: string, isReversed: boolean): Resource[] {
  const factor = isReversed ? -1 : 1
  const compare = (a: unknown, b: unknown) =>
    typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b))
  return resources.toSorted((a, b) => factor * compare(a.attributes[field], b.attributes[field]))
}

/** Routes for network scans, the review queue and movements. */

import type { FastifyInstance, FastifyRequest } from 'fastify'
import type Type from 'typebox'
import { acknowledge, type ReviewDeps, reviewEntries } from '../../actions/review.ts'
import { type ScanDeps, scanNetwork } from '../../actions/scan-network.ts'
import type { Location } from '../../contract/admin.ts'
import { queueStatuses } from '../../contract/values.ts'
import { toMovementBody, toPendingBody, toQueueEntryBody } from '../../domain/discovery-api.ts'
import type { ReviewAction } from '../../domain/equipment/review.ts'
import type { ReceiverStore } from '../../state/receiver-store.ts'
import type { Database } from '../../storage/database.ts'
import {
  countEntries,
  countMovements,
  listMovementDetails,
  listReviewed,
  type MovementFilter,
  type QueueFilter,
  type Slice,
} from '../../storage/discovery.ts'
import { type Query, readChoice, readFlag, readPage, readParameter, readTime, toPageOf } from '../server/response.ts'
import { body, idsBody, text } from '../server/schemas.ts'

export interface DiscoveryDeps {
  readonly discoveryDeps: ReviewDeps & ScanDeps
  readonly db: Database
  readonly receiverStore: ReceiverStore
  locations(): readonly Location[]
}

const ScanRequest = body({ scan_subnet: text(1, 64) })

const actionsByPath: Readonly<Record<string, ReviewAction>> = {
  approve: 'approve',
  reject: 'reject',
  'mark-duplicate': 'mark_duplicate',
  reopen: 'reopen',
}

export function discoveryRoutes(app: FastifyInstance, deps: DiscoveryDeps): void {
  app.post<{ Body: Type.Static<typeof ScanRequest> }>(
    '/api/discover',
    { config: { needs: 'operate' }, schema: { body: ScanRequest } },
    (request) => {
      const manufacturer = readParameter(request.query as Query, 'manufacturer')
      return scanNetwork(deps.discoveryDeps, request.actor, { scan_subnet: request.body.scan_subnet, manufacturer })
    },
  )

  app.get('/api/discovery/pending', async (request) => {
    const manufacturer = readParameter(request.query as Query, 'manufacturer')
    const { count, results, page } = await readList(request, queueList(deps, { status: 'pending', manufacturer }))
    const bodies = results.map(toPendingBody)
    return page === null ? { count, results: bodies } : toPageOf(bodies, count, page, request.url)
  })

  app.get('/api/movements/unacknowledged', async (request) => {
    const manufacturer = readParameter(request.query as Query, 'manufacturer')
    const { count, results, page } = await readList(request, movementList(deps, { acknowledged: false, manufacturer }))
    const bodies = results.map(toMovementBody)
    return page === null ? { count, results: bodies } : toPageOf(bodies, count, page, request.url)
  })
}

export function reviewRoutes(app: FastifyInstance, deps: DiscoveryDeps): void {
  app.get('/api/admin/discovery-queue', { config: { needs: 'inspect' } }, async (request) => {
    const { count, results, page } = await readList(request, queueList(deps, readQueueFilter(request.query as Query)))
    const findExisting = (id: number | null) => (id === null ? undefined : deps.receiverStore.get(id))
    const bodies = results.map((entry) =>
      toQueueEntryBody(entry, findExisting(entry.existing_device), deps.locations()),
    )
    return page === null ? bodies : toPageOf(bodies, count, page, request.url)
  })

  for (const [path, action] of Object.entries(actionsByPath)) {
    app.post<{ Body: Type.Static<typeof idsBody> }>(
      `/api/admin/discovery-queue/${path}`,
      { config: { needs: 'review' }, schema: { body: idsBody } },
      (request) => reviewEntries(deps.discoveryDeps, request.actor, action, request.body.ids),
    )
  }

  app.get('/api/admin/movements', { config: { needs: 'inspect' } }, async (request) => {
    const query = request.query as Query
    const filter = { acknowledged: readFlag(query, 'acknowledged'), manufacturer: readParameter(query, 'manufacturer') }
    const { count, results, page } = await readList(request, movementList(deps, filter))
    const bodies = results.map(toMovementBody)
    return page === null ? bodies : toPageOf(bodies, count, page, request.url)
  })

  app.post<{ Body: Type.Static<typeof idsBody> }>(
    '/api/admin/movements/acknowledge',
    { config: { needs: 'acknowledge' }, schema: { body: idsBody } },
    (request) => acknowledge(deps.discoveryDeps, request.actor, request.body.ids),
  )
}

/** A list of which the database returns the total count and single pages. */
interface StoredList<Item> {
  count(): Promise<number>
  list(slice: Slice): Promise<readonly Item[]>
}

function queueList({ db }: DiscoveryDeps, filter: QueueFilter) {
  return { count: () => countEntries(db.read, filter), list: (slice: Slice) => listReviewed(db.read, filter, slice) }
}

function movementList({ db }: DiscoveryDeps, filter: MovementFilter) {
  return {
    count: () => countMovements(db.read, filter),
    list: (slice: Slice) => listMovementDetails(db.read, filter, slice),
  }
}

async function readList<Item>(request: FastifyRequest, stored: StoredList<Item>) {
  const page = readPage(request.query as Query)
  const count = await stored.count()
  const slice = page === null ? { limit: count, offset: 0 } : { limit: page.size, offset: (page.page - 1) * page.size }
  return { page, count, results: await stored.list(slice) }
}

function readQueueFilter(query: Query): QueueFilter {
  return {
    status: readChoice(query, 'status', queueStatuses),
    manufacturer: readParameter(query, 'manufacturer'),
    device_type: readChoice(query, 'device_type', ['receiver', 'transmitter']),
    is_duplicate: readFlag(query, 'is_duplicate'),
    is_ip_conflict: readFlag(query, 'is_ip_conflict'),
    discovered_after: readTime(query, 'discovered_after'),
    discovered_before: readTime(query, 'discovered_before'),
  }
}

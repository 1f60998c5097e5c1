/** Routes for network scans, the review queue and movements. */

import { scanNetwork } from '../../actions/equipment/scan-network.ts'
import { acknowledge, reviewEntries } from '../../actions/shows/review.ts'
import { discoveryOperations, type QueueQuery } from '../../contract/discovery.ts'
import type { Body, LocalList } from '../../contract/schema.ts'
import { toMovementBody, toPendingBody, toQueueEntryBody } from '../../domain/equipment/discovery-bodies.ts'
import { includesSite } from '../../domain/equipment/sites.ts'
import { listScanNetworks } from '../../domain/identity/network.ts'
import type { Service } from '../../service.ts'
import {
  countEntries,
  countMovements,
  listMovementDetails,
  listReviewed,
  type MovementFilter,
  type QueueFilter,
  type Slice,
} from '../../storage/discovery.ts'
import type { ContractServer } from '../server/contract.ts'
import { readPage, rowsOf, toPageOf, toTime } from '../server/response.ts'

const reviews = [
  { action: 'approve', endpoint: discoveryOperations.approveQueueEntries },
  { action: 'reject', endpoint: discoveryOperations.rejectQueueEntries },
  { action: 'mark_duplicate', endpoint: discoveryOperations.markQueueEntriesDuplicate },
  { action: 'reopen', endpoint: discoveryOperations.reopenQueueEntries },
] as const

export function discoveryRoutes(app: ContractServer, service: Service): void {
  app.route({
    ...discoveryOperations.scanNetwork,
    config: { needs: 'operate' },
    handler: ({ actor, query: { manufacturer }, body: { scan_subnet } }) =>
      scanNetwork(service, actor, { scan_subnet, manufacturer }),
  })

  app.route({
    ...discoveryOperations.listScanNetworks,
    config: { needs: 'operate' },
    handler: () => listScanNetworks(service.localAddresses, service.discoveryRanges),
  })

  app.route({
    ...discoveryOperations.listPendingDevices,
    handler: async ({ query, url }) => {
      const { manufacturer } = query
      const { count, results, page } = await readList(query, queueList(service, { status: 'pending', manufacturer }))
      const bodies = results.map(toPendingBody)
      return page === null ? { count, results: bodies } : toPageOf(bodies, count, page, url)
    },
  })

  app.route({
    ...discoveryOperations.listUnacknowledgedMovements,
    handler: async ({ query, url }) => {
      const { manufacturer } = query
      const { count, results, page } = await readList(
        query,
        movementList(service, { acknowledged: false, manufacturer }),
      )
      const bodies = results.map(toMovementBody)
      return page === null ? { count, results: bodies } : toPageOf(bodies, count, page, url)
    },
  })
}

export function reviewRoutes(app: ContractServer, service: Service): void {
  app.route({
    ...discoveryOperations.listQueueEntries,
    config: { needs: 'inspect' },
    handler: async ({ query, url }) => {
      const { count, results, page } = await readList(query, queueList(service, toQueueFilter(query)))
      const findExisting = (id: number | null) => (id === null ? undefined : service.receiverStore.get(id))
      const bodies = results.map((entry) =>
        toQueueEntryBody(entry, findExisting(entry.existing_device), service.lists.current.locations),
      )
      return page === null ? bodies : toPageOf(bodies, count, page, url)
    },
  })

  for (const { action, endpoint } of reviews) {
    app.route({
      ...endpoint,
      config: { needs: 'review' },
      handler: (request) => reviewEntries(service, request.actor, action, request.body.ids),
    })
  }

  app.route({
    ...discoveryOperations.listMovements,
    config: { needs: 'inspect' },
    handler: async ({ query, url }) => {
      const { acknowledged, manufacturer } = query
      const { count, results, page } = await readList(query, movementList(service, { acknowledged, manufacturer }))
      const bodies = results.map(toMovementBody)
      return page === null ? bodies : toPageOf(bodies, count, page, url)
    },
  })

  app.route({
    ...discoveryOperations.acknowledgeMovements,
    config: { needs: 'acknowledge' },
    handler: (request) => acknowledge(service, request.actor, request.body.ids),
  })
}

/** A list in the database, which is counted there and read page by page. */
interface StoredList<Item> {
  count(): Promise<number>
  list(slice: Slice): Promise<readonly Item[]>
}

function queueList({ db }: Service, filter: QueueFilter) {
  return { count: () => countEntries(db.read, filter), list: (slice: Slice) => listReviewed(db.read, filter, slice) }
}

function movementList({ db }: Service, filter: MovementFilter) {
  return {
    count: () => countMovements(db.read, filter),
    list: (slice: Slice) => listMovementDetails(db.read, filter, slice),
  }
}

/** Returns nothing for a site, because only the devices of this installation are reviewed. */
async function readList<Item>(query: Body<typeof LocalList>, stored: StoredList<Item>) {
  const page = readPage(query)
  const count = includesSite(query, null) ? await stored.count() : 0
  const slice = page === null ? { limit: count, offset: 0 } : rowsOf(page)
  return { page, count, results: count === 0 ? [] : await stored.list(slice) }
}

function toQueueFilter(query: Body<typeof QueueQuery>): QueueFilter {
  const { discovered_after, discovered_before, site: _, page: __, page_size: ___, ...filter } = query
  return { ...filter, discovered_after: toTime(discovered_after), discovered_before: toTime(discovered_before) }
}

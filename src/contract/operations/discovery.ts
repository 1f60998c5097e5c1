/** Network scans, the review queue and movements. */

import { countedOf, pagedOf } from '../described.ts'
import { endpoint, operation } from '../endpoint.ts'
import { ErrorResponse } from '../errors.ts'
import { MovementQuery, QueueQuery, Scope, ScopedList } from '../queries.ts'
import { Ids, ScanRequest } from '../requests.ts'
import { Scan, ScanNetworks } from '../resources/discovery.ts'
import { Movement, Pending, QueueEntry, Review } from '../resources/review.ts'

export const scanNetwork = endpoint('POST', '/api/discover/', {
  ...operation('Discovery', 'scanNetwork', 'Scans a subnet for devices.'),
  querystring: Scope,
  body: ScanRequest,
  response: { 200: Scan, 404: ErrorResponse, 409: ErrorResponse },
})

export const listScanNetworks = endpoint('GET', '/api/discover/networks/', {
  ...operation('Discovery', 'listScanNetworks', 'The networks of the machine that runs Micwatch.'),
  response: { 200: ScanNetworks },
})

export const listPendingDevices = endpoint('GET', '/api/discovery/pending/', {
  ...operation('Discovery', 'listPendingDevices', 'Devices that are waiting for review.'),
  querystring: ScopedList,
  response: { 200: countedOf(Pending) },
})

export const listUnacknowledgedMovements = endpoint('GET', '/api/movements/unacknowledged/', {
  ...operation('Discovery', 'listUnacknowledgedMovements', 'Unacknowledged movements.'),
  querystring: ScopedList,
  response: { 200: countedOf(Movement) },
})

/** The body and the responses of an action on several records. */
const review = { body: Ids, response: { 200: Review, 409: ErrorResponse } }

export const listQueueEntries = endpoint('GET', '/api/admin/discovery-queue/', {
  ...operation(
    'Review',
    'listQueueEntries',
    'The review queue; each entry contains the receiver with which it conflicts.',
  ),
  querystring: QueueQuery,
  response: { 200: pagedOf(QueueEntry) },
})

export const listMovements = endpoint('GET', '/api/admin/movements/', {
  ...operation('Review', 'listMovements', 'The movement log.'),
  querystring: MovementQuery,
  response: { 200: pagedOf(Movement) },
})

export const acknowledgeMovements = endpoint('POST', '/api/admin/movements/acknowledge', {
  ...operation('Review', 'acknowledgeMovements', 'Acknowledges movements.'),
  body: Ids,
  response: { 200: Review, 409: ErrorResponse },
})

export const approveQueueEntries = endpoint('POST', '/api/admin/discovery-queue/approve', {
  ...operation('Review', 'approveQueueEntries', 'Approves entries and imports them as receivers.'),
  ...review,
})

export const rejectQueueEntries = endpoint('POST', '/api/admin/discovery-queue/reject', {
  ...operation('Review', 'rejectQueueEntries', 'Rejects entries: they are kept, but not imported automatically.'),
  ...review,
})

export const markQueueEntriesDuplicate = endpoint('POST', '/api/admin/discovery-queue/mark-duplicate', {
  ...operation('Review', 'markQueueEntriesDuplicate', 'Marks entries as duplicates of known devices.'),
  ...review,
})

export const reopenQueueEntries = endpoint('POST', '/api/admin/discovery-queue/reopen', {
  ...operation('Review', 'reopenQueueEntries', 'Returns rejected and duplicate entries to the review queue.'),
  ...review,
})

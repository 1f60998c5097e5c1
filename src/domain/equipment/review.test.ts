import { describe, expect, test } from 'vitest'
import { buildQueueEntry } from '../../../test/support/builders.ts'
import { queueStatuses } from '../../contract/values.ts'
import { toDraft } from '../identity/ingest-plan.ts'
import { createKnownReceivers } from '../identity/reconcile.ts'
import { type DeviceReport, emptyChannel, type Receiver } from './receiver.ts'
import { approveEntry, type ReviewAction, reviewActions, reviewError } from './review.ts'

const at = 1_000

function receiver(id: number, fields: Partial<Receiver> = {}): Receiver {
  const report: DeviceReport = { id: `api-${id}`, kind: 'receiver' }
  return { ...toDraft('shure', report, 0), id, channels: [], ...fields }
}

function indexOf(...receivers: Receiver[]) {
  const known = createKnownReceivers()
  for (const receiver of receivers) known.put(receiver)
  return known
}

const report: DeviceReport = {
  id: 'api-9',
  kind: 'receiver',
  name: 'Rack 9',
  serial_number: 'S9',
  ip: '10.0.0.1',
  channels: [{ channel: 1, rf_level: -50 }],
}

const entry = buildQueueEntry({ id: 7 })

describe('reviewError', () => {
  const allowed: Record<ReviewAction, readonly string[]> = {
    approve: ['pending', 'approved'],
    reject: ['pending'],
    mark_duplicate: ['pending', 'approved'],
    reopen: ['rejected', 'duplicate'],
  }
  // Conformance: S-3.7.
  test.each(reviewActions.flatMap((action) => queueStatuses.map((status) => [action, status] as const)))(
    '%s when %s',
    (action, status) => {
      const error = reviewError({ id: 7, status }, action)
      if (allowed[action].includes(status)) expect(error).toBeNull()
      else expect(error).toMatch(/^Entry 7 (is|has) .*\.$/)
    },
  )
})

describe('approveEntry', () => {
  test('creates a second receiver at the same address', () => {
    const known = indexOf(receiver(1, { ip: '10.0.0.1', serial_number: 'S1' }))
    expect(approveEntry(entry, report, known, at)).toMatchObject({
      kind: 'create',
      replaces: null,
      creation: {
        draft: { name: 'Rack 9', serial_number: 'S9', ip: '10.0.0.1', api_device_id: 'api-9', last_seen: at },
        readings: [{ channel: 1, rf_level: -50 }],
      },
    })
  })

  test('replaces the receiver with the same API id after a hardware change', () => {
    const old = receiver(1, { api_device_id: 'api-9', serial_number: 'OLD', ip: '10.0.0.8' })
    expect(approveEntry(entry, report, indexOf(old), at)).toMatchObject({ kind: 'create', replaces: { id: 1 } })
  })

  test('adopts the channels of a replaced receiver of the same model if none were reported', () => {
    const channels = [emptyChannel(5, 1, 11), emptyChannel(6, 2, 12)]
    const old = receiver(1, { api_device_id: 'api-9', serial_number: 'OLD', ip: '10.0.0.8', model: 'ULXD4D', channels })
    const approve = (model_name: string) =>
      approveEntry(entry, { ...report, model_name, channels: undefined }, indexOf(old), at)
    expect(approve('ULXD4D')).toMatchObject({ creation: { readings: [{ channel: 1 }, { channel: 2 }] } })
    expect(approve('ULXD4Q')).toMatchObject({ creation: { readings: [] } })
  })

  test('creates a receiver of this manufacturer if another manufacturer has the serial number', () => {
    const foreign = receiver(1, { manufacturer: 'sennheiser', serial_number: 'S9', ip: '10.0.0.8' })
    expect(approveEntry(entry, report, indexOf(foreign), at)).toMatchObject({
      kind: 'create',
      replaces: null,
      creation: { draft: { manufacturer: 'shure' } },
    })
  })

  test.each([
    ['the same address', '10.0.0.1'],
    ['another address', '10.0.0.77'],
  ])('links a receiver that matches in the meantime, at %s', (_, ip) => {
    const match = receiver(3, { serial_number: ' s9', ip })
    expect(approveEntry(entry, report, indexOf(match), at)).toMatchObject({ kind: 'link', receiver: { id: 3 } })
  })

  test('uses the fields of the entry if no report was stored', () => {
    expect(approveEntry(entry, null, indexOf(), at)).toMatchObject({
      kind: 'create',
      creation: { draft: { name: 'api-9', serial_number: 'S9', ip: '10.0.0.1' }, readings: [] },
    })
  })

  test.each(['rejected', 'duplicate', 'imported'] as const)('refuses an entry that is %s', (status) => {
    expect(approveEntry({ ...entry, status }, report, indexOf(), at)).toMatchObject({ kind: 'refuse' })
  })

  test('refuses a transmitter', () => {
    const transmitter = approveEntry(entry, { ...report, kind: 'transmitter' }, indexOf(), at)
    expect(transmitter).toMatchObject({ kind: 'refuse', error: expect.stringContaining('transmitter') })
  })
})

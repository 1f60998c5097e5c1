import { describe, expect, test } from 'vitest'
import { type QueueEntry, queueStatuses } from './discovery.ts'
import { toDraft } from './ingest-plan.ts'
import { type DeviceReport, emptyChannel, type Receiver } from './receiver.ts'
import { createKnownReceivers } from './reconcile.ts'
import { approveEntry, type ReviewAction, reviewActions, reviewError } from './review.ts'

const at = 1_000

function receiver(id: number, fields: Partial<Receiver> = {}): Receiver {
  const report: DeviceReport = { id: `api-${id}`, kind: 'receiver' }
  return { ...toDraft('shure', report, 0), id, channels: [], ...fields }
}

function knowing(...receivers: Receiver[]) {
  const known = createKnownReceivers()
  for (const one of receivers) known.put(one)
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

const entry: QueueEntry = {
  id: 7,
  manufacturer: 'shure',
  identity_key: 'serial:s9',
  api_device_id: 'api-9',
  serial_number: 'S9',
  mac_address: null,
  ip: '10.0.0.1',
  device_type: 'receiver',
  status: 'pending',
  conflict_type: 'ip_conflict',
  is_duplicate: false,
  is_ip_conflict: true,
  existing_device: 1,
  discovered_at: 0,
  metadata: null,
}

describe('which verdict an entry can take', () => {
  const allowed: Record<ReviewAction, readonly string[]> = {
    approve: ['pending', 'approved'],
    reject: ['pending'],
    mark_duplicate: ['pending', 'approved'],
    reopen: ['rejected', 'duplicate'],
  }
  // Conformance: S-3.7.
  test.each(reviewActions.flatMap((verdict) => queueStatuses.map((status) => [verdict, status] as const)))(
    '%s when %s',
    (verdict, status) => {
      const refusal = reviewError({ id: 7, status }, verdict)
      if (allowed[verdict].includes(status)) expect(refusal).toBeNull()
      else expect(refusal).toMatch(/^Entry 7 (is|has) .*\.$/)
    },
  )
})

describe('approving', () => {
  test('makes a receiver beside the one that holds the address', () => {
    const known = knowing(receiver(1, { ip: '10.0.0.1', serial_number: 'S1' }))
    expect(approveEntry(entry, report, known, at)).toMatchObject({
      kind: 'create',
      replaces: null,
      creation: {
        draft: { name: 'Rack 9', serial_number: 'S9', ip: '10.0.0.1', api_device_id: 'api-9', last_seen: at },
        told: [{ channel: 1, rf_level: -50 }],
      },
    })
  })

  test('of replaced hardware takes the id from the old one', () => {
    const old = receiver(1, { api_device_id: 'api-9', serial_number: 'OLD', ip: '10.0.0.8' })
    expect(approveEntry(entry, report, knowing(old), at)).toMatchObject({ kind: 'create', replaces: { id: 1 } })
  })

  test('of replaced hardware whose channels were not read yet expects those of the same model', () => {
    const channels = [emptyChannel(5, 1, 11), emptyChannel(6, 2, 12)]
    const old = receiver(1, { api_device_id: 'api-9', serial_number: 'OLD', ip: '10.0.0.8', model: 'ULXD4D', channels })
    const approve = (model_name: string) =>
      approveEntry(entry, { ...report, model_name, channels: undefined }, knowing(old), at)
    expect(approve('ULXD4D')).toMatchObject({ creation: { told: [{ channel: 1 }, { channel: 2 }] } })
    expect(approve('ULXD4Q')).toMatchObject({ creation: { told: [] } })
  })

  test('with a serial number of another manufacturer makes one of this manufacturer', () => {
    const foreign = receiver(1, { manufacturer: 'sennheiser', serial_number: 'S9', ip: '10.0.0.8' })
    expect(approveEntry(entry, report, knowing(foreign), at)).toMatchObject({
      kind: 'create',
      replaces: null,
      creation: { draft: { manufacturer: 'shure' } },
    })
  })

  test.each([
    ['the same', '10.0.0.1'],
    ['another', '10.0.0.77'],
  ])('links what has meanwhile become a match, at %s address', (_, ip) => {
    const meanwhile = receiver(3, { serial_number: ' s9', ip })
    expect(approveEntry(entry, report, knowing(meanwhile), at)).toMatchObject({ kind: 'link', receiver: { id: 3 } })
  })

  test('works with what the entry itself says where nothing more was kept', () => {
    expect(approveEntry(entry, null, knowing(), at)).toMatchObject({
      kind: 'create',
      creation: { draft: { name: 'api-9', serial_number: 'S9', ip: '10.0.0.1' }, told: [] },
    })
  })

  test.each(['rejected', 'duplicate', 'imported'] as const)('is refused when it is %s', (status) => {
    expect(approveEntry({ ...entry, status }, report, knowing(), at)).toMatchObject({ kind: 'refuse' })
  })

  test('is refused for a transmitter', () => {
    const transmitter = approveEntry(entry, { ...report, kind: 'transmitter' }, knowing(), at)
    expect(transmitter).toMatchObject({ kind: 'refuse', error: expect.stringContaining('transmitter') })
  })
})

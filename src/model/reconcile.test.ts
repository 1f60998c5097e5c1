import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { QueueEntry } from './discovery.ts'
import type { DeviceReport, Receiver } from './receiver.ts'
import { createKnownReceivers, identityKey, ipKey, macKey, type Outcome, reconcile, serialKey } from './reconcile.ts'

const blank = {
  subnet_mask: null,
  gateway: null,
  network_mode: null,
  interface_id: null,
  description: null,
  firmware_version: null,
  hosted_firmware_version: null,
}

function receiver(fields: Partial<Receiver> & { id: number }): Receiver {
  return {
    manufacturer: 'shure',
    api_device_id: `api-${fields.id}`,
    name: 'Rack',
    device_type: 'ulxd',
    model: null,
    serial_number: null,
    mac_address: null,
    ip: null,
    is_active: true,
    last_seen: 0,
    location: null,
    is_named_by_hand: false,
    channels: [],
    ...blank,
    ...fields,
  }
}

function seen(fields: Partial<DeviceReport>): DeviceReport {
  return { id: 'api-9', kind: 'receiver', ...fields }
}

function entry(fields: Partial<QueueEntry>): QueueEntry {
  return {
    id: 1,
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
    ...fields,
  }
}

/** `duplicate 1`, `moved 1 10.0.0.1>10.0.0.2`, `ip_conflict 1` … */
function inShort(outcome: Outcome): string {
  switch (outcome.kind) {
    case 'new':
      return 'new'
    case 'duplicate':
      return `duplicate ${outcome.receiver.id}`
    case 'moved':
      return `moved ${outcome.receiver.id} ${outcome.old_ip}>${outcome.new_ip}`
    case 'conflict':
      return `${outcome.conflict_type} ${outcome.existing.id}`
    case 'excluded':
      return `excluded ${outcome.entry.status}`
    default:
      return outcome satisfies never
  }
}

function judge(known: readonly Receiver[], report: DeviceReport, entries: readonly QueueEntry[] = []): string {
  const index = createKnownReceivers()
  for (const one of known) index.put(one)
  for (const one of entries) index.putEntry(one)
  return inShort(reconcile(index, 'shure', report))
}

const A = receiver({ id: 1, serial_number: 'S1', mac_address: '00:0E:DD:00:00:01', ip: '10.0.0.1' })
const B = receiver({ id: 2, serial_number: 'S2', mac_address: '00:0E:DD:00:00:02', ip: '10.0.0.2' })
const bare = receiver({ id: 3, ip: '10.0.0.3' })
const foreign = receiver({
  id: 4,
  manufacturer: 'sennheiser',
  serial_number: 'S4',
  mac_address: '00:1B:66:00:00:04',
  ip: '10.0.0.4',
})

describe('the deduplication table of the specification', () => {
  // Conformance: S-3.1, S-3.4.
  test.each<[string, Partial<DeviceReport>, string]>([
    ['nothing matches', { serial_number: 'S9', mac_address: '00:0E:DD:00:00:09', ip: '10.0.0.9' }, 'new'],
    ['serial, same IP', { serial_number: 'S1', ip: '10.0.0.1' }, 'duplicate 1'],
    ['MAC, same IP', { mac_address: '00:0E:DD:00:00:01', ip: '10.0.0.1' }, 'duplicate 1'],
    ['API id, same IP', { id: 'api-3', ip: '10.0.0.3' }, 'duplicate 3'],
    ['serial, other IP', { serial_number: 'S1', ip: '10.0.0.8' }, 'moved 1 10.0.0.1>10.0.0.8'],
    ['MAC, other IP', { mac_address: '00:0E:DD:00:00:01', ip: '10.0.0.8' }, 'moved 1 10.0.0.1>10.0.0.8'],
    [
      'IP, but serial and MAC differ',
      { serial_number: 'S9', mac_address: '00:0E:DD:00:00:09', ip: '10.0.0.1' },
      'ip_conflict 1',
    ],
    ['serial of another manufacturer', { serial_number: 'S4', ip: '10.0.0.9' }, 'manufacturer_mismatch 4'],
  ])('%s', (_name, fields, expected) => {
    expect(judge([A, B, bare, foreign], seen(fields))).toBe(expected)
  })
})

describe('its completion', () => {
  // Conformance: C-4.4, C-4.5, C-4.8, C-4.9.
  test.each<[string, Partial<DeviceReport>, string]>([
    ['serials compare trimmed and case-folded', { serial_number: ' s1 ', ip: '10.0.0.1' }, 'duplicate 1'],
    ['MAC addresses compare by their digits', { mac_address: '000edd-000001', ip: '10.0.0.1' }, 'duplicate 1'],
    [
      'an all-zero identity never matches',
      { serial_number: '0000000000', mac_address: '00:00:00:00:00:00', ip: '0.0.0.0' },
      'new',
    ],
    ['IP, and the known side has no identity', { serial_number: 'S9', ip: '10.0.0.3' }, 'duplicate 3'],
    ['IP, and the seen side has no identity', { ip: '10.0.0.1' }, 'duplicate 1'],
    ['IP, one of the two contradicts', { serial_number: 'S9', ip: '10.0.0.1' }, 'ip_conflict 1'],
    ['IP, only the MAC contradicts', { mac_address: '00:0E:DD:00:00:09', ip: '10.0.0.1' }, 'ip_conflict 1'],
    ['API id, other IP, no contradiction', { id: 'api-3', ip: '10.0.0.8' }, 'moved 3 10.0.0.3>10.0.0.8'],
    ['API id, IP not told', { id: 'api-1' }, 'duplicate 1'],
    [
      'API id, but another serial: replaced hardware',
      { id: 'api-1', serial_number: 'S9', ip: '10.0.0.8' },
      'hardware_changed 1',
    ],
    ['API id, but another MAC', { id: 'api-1', mac_address: '00:0E:DD:00:00:09' }, 'hardware_changed 1'],
    ['MAC of another manufacturer', { mac_address: '00:1B:66:00:00:04' }, 'manufacturer_mismatch 4'],
    ['IP of another manufacturer', { serial_number: 'S9', ip: '10.0.0.4' }, 'ip_conflict 4'],
    ['IP of another manufacturer, known by API id: never moved', { id: 'api-3', ip: '10.0.0.4' }, 'ip_conflict 4'],
    [
      'serial wins over another receiver that holds the new IP',
      { serial_number: 'S1', ip: '10.0.0.2' },
      'moved 1 10.0.0.1>10.0.0.2',
    ],
    [
      'serial wins over another manufacturer that holds the new IP',
      { serial_number: 'S1', ip: '10.0.0.4' },
      'moved 1 10.0.0.1>10.0.0.4',
    ],
    ['serial wins over MAC', { serial_number: 'S1', mac_address: '00:0E:DD:00:00:02', ip: '10.0.0.1' }, 'duplicate 1'],
  ])('%s', (_name, fields, expected) => {
    expect(judge([A, B, bare, foreign], seen(fields))).toBe(expected)
  })

  test('two receivers that share an address after a review: the one that agrees is meant', () => {
    const twin = receiver({ id: 5, serial_number: 'S5', ip: '10.0.0.1' })
    expect(judge([A, twin], seen({ id: 'x', serial_number: 'S5', ip: '10.0.0.1' }))).toBe('duplicate 5')
  })

  test.each<[QueueEntry['status'], string]>([
    ['pending', 'ip_conflict 1'],
    ['rejected', 'excluded rejected'],
    ['duplicate', 'excluded duplicate'],
  ])('a conflict whose entry is %s', (status, expected) => {
    const conflicting = seen({ serial_number: 'S9', ip: '10.0.0.1' })
    expect(judge([A], conflicting, [entry({ status })])).toBe(expected)
  })

  test('a rejected device stays out even when its conflict is gone', () => {
    expect(judge([], seen({ serial_number: 'S9', ip: '10.0.0.7' }), [entry({ status: 'rejected' })])).toBe(
      'excluded rejected',
    )
  })
})

// Conformance: C-4.1.
test('keys', () => {
  expect([serialKey(' AbC '), serialKey(''), serialKey('000-000'), serialKey(null)]).toEqual(['abc', null, null, null])
  expect([
    macKey('00:0e:DD:00:00:01'),
    macKey('000EDD000001'),
    macKey('00:0e:dd'),
    macKey('00:00:00:00:00:00'),
  ]).toEqual(['000edd000001', '000edd000001', null, null])
  expect([ipKey('10.0.0.1'), ipKey('0.0.0.0'), ipKey('')]).toEqual(['10.0.0.1', null, null])
  expect(identityKey({ id: 'x', serial_number: ' S1', mac_address: null })).toBe('serial:s1')
  expect(identityKey({ id: 'x', mac_address: '00:0e:dd:00:00:01' })).toBe('mac:000edd000001')
  expect(identityKey({ id: 'x' })).toBe('id:x')
})

describe('the index', () => {
  test('forgets the old address of a receiver that was replaced', () => {
    const index = createKnownReceivers()
    index.put(A)
    index.put({ ...A, ip: '10.0.0.9' })
    expect(index.byIp('10.0.0.1')).toEqual([])
    expect(index.byIp('10.0.0.9')).toHaveLength(1)
  })

  test('over a base, what is put hides the base under the same id', () => {
    const base = createKnownReceivers()
    base.put(A)
    const over = createKnownReceivers(base)
    over.put({ ...A, ip: '10.0.0.9', api_device_id: null })
    expect(over.byIp('10.0.0.1')).toEqual([])
    expect(over.byApiId('shure', 'api-1')).toBeUndefined()
    expect(over.bySerial('s1').map((one) => one.ip)).toEqual(['10.0.0.9'])
    expect(base.byIp('10.0.0.1')).toHaveLength(1)
  })

  // Conformance: S-3.1.
  test('finds what a plain search finds, whatever was put in whatever order', () => {
    const some = fc.record({
      id: fc.integer({ min: 1, max: 6 }),
      serial_number: fc.constantFrom(null, 'S1', 'S2', 'S3'),
      ip: fc.constantFrom(null, '10.0.0.1', '10.0.0.2'),
    })
    fc.assert(
      fc.property(fc.array(some, { maxLength: 20 }), fc.nat(20), (puts, split) => {
        const base = createKnownReceivers()
        const over = createKnownReceivers(base)
        const plain = new Map<number, Receiver>()
        for (const [at, fields] of puts.entries()) {
          const one = receiver(fields)
          plain.set(one.id, one)
          ;(at < split ? base : over).put(one)
        }
        for (const serial of ['s1', 's2', 's3']) {
          const expected = [...plain.values()].filter((one) => serialKey(one.serial_number) === serial)
          expect(new Set(over.bySerial(serial))).toEqual(new Set(expected))
        }
      }),
    )
  })
})

import { describe, expect, it } from 'vitest'
import { buildReceiver } from '../../../test/support/builders.ts'
import type { IngestRequest } from '../../contract/ingest.ts'
import { ingestedId, isIngestedId, planIngest, reportedDeviceId } from './ingested-receivers.ts'
import { createKnownReceivers } from './reconcile.ts'

const known = createKnownReceivers()
known.put(buildReceiver(1, { manufacturer: 'shure', serial_number: 'S1', ip: '10.0.0.1', name: 'Rack' }))
known.put(buildReceiver(2, { manufacturer: 'ingest', api_device_id: ingestedId('script', 'b'), serial_number: 'S2' }))

const manufacturers = [
  { code: 'shure', isEnabled: true },
  { code: 'mipro', isEnabled: false },
]

function plan(...receivers: IngestRequest['receivers']) {
  return planIngest({ known, manufacturers }, { source: 'script', receivers })
}

describe('planIngest', () => {
  // Conformance: C-16.130.
  it('converts the fields that are present, and ignores those that are read-only', () => {
    const { accepted, rejected } = plan({
      api_device_id: 'a',
      id: 7,
      last_seen: '2026-05-01T18:00:00.000Z',
      model: 'MRK980',
      mac_address: '0a-0b-0c-0d-0e-0f',
      channels: [
        { channel: 1, slot: 3, condition: {}, rf_level: -60, transmitter: { battery: 55, slot: 3, forecast: null } },
        { channel: 2, transmitter: null },
      ],
    })
    expect(rejected).toEqual([])
    expect(accepted).toEqual([
      {
        manufacturer: 'ingest',
        report: {
          id: 'ingest:script:a',
          kind: 'receiver',
          online: true,
          name: 'MRK980',
          model_name: 'MRK980',
          mac_address: '0A:0B:0C:0D:0E:0F',
          channels: [
            { channel: 1, rf_level: -60, transmitter: { battery: 55 } },
            { channel: 2, transmitter: null },
          ],
        },
      },
    ])
  })

  // Conformance: C-16.132.
  it('does not rename a known receiver that is reported without a name', () => {
    expect(plan({ api_device_id: 'b', channels: [] }).accepted[0]?.report).not.toHaveProperty('name')
    expect(plan({ api_device_id: 'new' }).accepted[0]?.report).toMatchObject({ name: 'new' })
  })

  it.each<[string, IngestRequest['receivers'][number], RegExp]>([
    ['an unknown manufacturer', { api_device_id: 'c', manufacturer: 'acme' }, /there is no manufacturer acme/],
    ['a disabled manufacturer', { api_device_id: 'c', manufacturer: 'mipro' }, /mipro is disabled/],
    ['a repeated channel', { api_device_id: 'c', channels: [{ channel: 1 }, { channel: 1 }] }, /distinct/],
    [
      'a serial number of another manufacturer',
      { api_device_id: 'c', serial_number: 's1' },
      /receiver 1 \(Rack, shure\)/,
    ],
    [
      'an address of another receiver',
      { api_device_id: 'c', ip: '10.0.0.1' },
      /^ip: already the address of receiver 1/,
    ],
    [
      'other hardware under a known id',
      { api_device_id: 'b', serial_number: 'S3' },
      /receiver 2 .*another serial number/,
    ],
  ])('rejects %s', (_, receiver, error) => {
    expect(plan(receiver)).toEqual({ accepted: [], rejected: [{ index: 0, error: expect.stringMatching(error) }] })
  })

  // Conformance: C-16.131.
  it('rejects a device that is in the request twice, by its id or its serial number', () => {
    const { accepted, rejected } = plan(
      { api_device_id: 'c', serial_number: 'S9' },
      { api_device_id: 'c' },
      { api_device_id: 'd', serial_number: 's9' },
      { api_device_id: 'd' },
    )
    expect(accepted).toHaveLength(1)
    const error = 'api_device_id: the same device as receivers.0'
    expect(rejected.slice(0, 2)).toEqual([
      { index: 1, error },
      { index: 2, error },
    ])
  })

  it('matches a receiver of its manufacturer by its serial number', () => {
    const { accepted } = plan({ api_device_id: 'c', manufacturer: 'shure', serial_number: 'S1' })
    expect(accepted).toMatchObject([{ manufacturer: 'shure', report: { id: 'ingest:script:c' } }])
  })
})

it('an id is returned as it was reported', () => {
  const id = ingestedId('stage: left', 'rack:1')
  expect(id).toBe('ingest:stage%3A%20left:rack:1')
  expect([isIngestedId(id), reportedDeviceId(id)]).toEqual([true, 'rack:1'])
  expect([isIngestedId('strings:00'), reportedDeviceId('strings:00'), reportedDeviceId(null)]).toEqual([
    false,
    'strings:00',
    null,
  ])
})

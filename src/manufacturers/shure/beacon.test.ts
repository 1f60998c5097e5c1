import { describe, expect, test } from 'vitest'
import { attributeReply, shureAttributes } from '../../../test/support/plugins/slp-beacon.ts'
import { beacon } from './beacon.ts'
import { findModel } from './component-ids.ts'

const read = (attributes: Parameters<typeof shureAttributes>[0]) =>
  beacon.read(attributeReply(shureAttributes(attributes)), '10.0.0.7')

describe('the beacon of a Shure device', () => {
  test('contains the model and the MAC address', () => {
    expect(read({})).toEqual({
      scheme: 'tcp:',
      id: 'strings:00:0E:DD:47:E0:D7',
      device_type: 'qlxd',
      model: 'QLXD4 K51',
      mac_address: '00:0E:DD:47:E0:D7',
      channels: 1,
    })
  })

  test.each([
    ['ULXD4Q', '0474383A-F B1E7', { device_type: 'ulxd', model: 'ULXD4Q Q51', channels: 4 }],
    ['UR4D', 'CCB8DB5C-E 8A4C', { scheme: 'udp:', device_type: 'uhfr', model: 'UR4D', channels: 2 }],
    ['P10T', '04AA19BE-F BFFD', { device_type: 'psm1000', model: 'P10T H22', channels: 2 }],
  ])('identifies %s by its id', (model, id, expected) => {
    const [first = '', last] = id.split(' ')
    const dcid = first.replace(/-E$/, '-E139-11DF').replace(/-F$/, '-FD5A-11E3')
    expect(read({ model, dcid: `${dcid}-${last}-0015C5F3F612` })).toMatchObject(expected)
  })

  test('identifies a newer device by its model, and is ignored for a device without command strings', () => {
    const dcid = '11111111-2222-3333-4444-555555555555'
    expect(read({ model: 'SLXD4D', dcid })).toMatchObject({ device_type: 'slxd', model: 'SLXD4D', channels: 2 })
    expect(read({ model: 'SBRC', dcid })).toMatchObject({ device_type: 'charger', channels: 0 })
    expect(read({ model: 'SBC840M', dcid })).toMatchObject({ device_type: 'charger', channels: 0 })
    expect(read({ model: 'MXWAPT8', dcid })).toMatchObject({ device_type: 'mxw', channels: 8 })
    expect(read({ model: 'MXWAPXD2', dcid })).toMatchObject({ device_type: 'mxw', channels: 2 })
    expect(read({ model: 'ANX4', dcid })).toMatchObject({ device_type: 'ad', model: 'ANX4', channels: 0 })
    for (const model of ['AD600', 'AXT600', 'SBC450', '']) expect(read({ model, dcid }), model).toBeNull()
  })

  test('outside the usual range has no MAC address, so the id is the IP address', () => {
    const cid = '12345678-0000-11DD-A000-000EDDCCCCCC'
    expect(read({ cid })).toMatchObject({ id: 'strings:10.0.0.7', mac_address: null })
  })
})

test('findModel returns null for an id that only starts like a known id', () => {
  expect(findModel('cceac054-e139-11df-84ba-0015c5f3f612')).toMatchObject({ model: 'QLXD4', band: 'K51' })
  for (const id of ['CCEAC054', 'CCEAC054-E139-11DF-84BA-0015C5F3F613', '']) expect(findModel(id)).toBeNull()
})

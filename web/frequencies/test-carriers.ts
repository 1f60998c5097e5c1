import type { FrequencyCarrierBody } from '../../src/contract/frequencies.ts'

export function buildCarrier(
  id: number,
  mhz: string,
  others: Partial<FrequencyCarrierBody> = {},
): FrequencyCarrierBody {
  const transmitter = { transmitter_on: true, rf_level: -50, noise_dbm: null }
  return {
    ...{ id: `c${id}`, channel_id: id, slot: id, name: `Mic ${id}`, mhz, model: 'ULXD4Q G51', profile: 'ulxd' },
    ...{ zone: null, tv_channel: '22', measured: 'unmeasured', ...transmitter, ...others },
  }
}

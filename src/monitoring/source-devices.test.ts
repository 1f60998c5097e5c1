import { expect, test } from 'vitest'
import { buildReceiver } from '../../test/builders.ts'
import { emptyChannel } from '../domain/equipment/receiver.ts'
import { type ProtocolAdapter, type UpstreamDevice, withoutParts } from '../manufacturers/plugin.ts'
import type { MonitoredSource } from '../manufacturers/sources.ts'
import { createReceiverStore } from '../state/receiver-store.ts'
import { SourceDevices, type SourceDevicesDeps } from './source-devices.ts'

interface Device extends UpstreamDevice {
  readonly audio_level: number
  readonly rf_level: number
}

const adapter = {
  ...withoutParts,
  listDevices: async () => ({ devices: [], malformed: 0 }),
  transformDeviceData: ({ id, audio_level, rf_level }: Device) => ({
    ...{ id, kind: 'receiver' },
    channels: [{ channel: 1, audio_level, rf_level }],
  }),
} as unknown as ProtocolAdapter

test('a list that was requested before a value was pushed does not replace it, even before the connection is recorded', async () => {
  const receiverStore = createReceiverStore()
  const setAudioLevel = (audio_level: number) =>
    receiverStore.put(buildReceiver(1, { channels: [{ ...emptyChannel(1, 1, 1), audio_level }] }))
  const source = { id: 'test', manufacturer: 'shure', adapter } as unknown as MonitoredSource
  const connections = { ofSource: () => [], find: () => undefined, connectedSince: () => null }
  const deps = { receiverStore, connections, now: () => 0 } as unknown as SourceDevicesDeps
  const devices = new SourceDevices(deps, source)
  setAudioLevel(-20)
  devices.setSubscribed(true)

  const start = devices.startCycle()
  setAudioLevel(-3)
  const entries = await devices.remember([{ id: 'api-1', audio_level: -20, rf_level: -50 }] as Device[])
  const { reports } = await devices.createReports(entries, start)
  expect(reports).toEqual([{ id: 'api-1', kind: 'receiver', channels: [{ channel: 1, rf_level: -50 }] }])
})

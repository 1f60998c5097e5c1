import { expect, it } from 'vitest'
import { buildReceiver } from '../../../test/support/builders.ts'
import { buildSlotRecords } from '../../../test/support/titles.ts'
import { ReceiverStore } from '../../ingest/receiver-store.ts'
import { createCounters } from '../../platform/counters.ts'
import type { Service } from '../../service.ts'
import { formatEquipmentMetrics } from './equipment-metrics.ts'

it('writes a line for each series, with escaped labels', async () => {
  const receiver = buildReceiver(3, { name: 'Rack "A" \\ left\nof stage' })
  const receiverStore = new ReceiverStore()
  receiverStore.put(receiver)
  const slotRecords = buildSlotRecords(receiverStore)
  const service = { receiverStore, slotRecords, counters: createCounters(), installationName: 'Hall A' } as Service
  const bytes = await formatEquipmentMetrics(service, false)
  expect(bytes.toString().split('\n').slice(0, 6)).toEqual([
    '# HELP micwatch_receiver_up 1 while the receiver is online, else 0.',
    '# TYPE micwatch_receiver_up gauge',
    'micwatch_receiver_up{receiver_id="3",installation="Hall A"} 1',
    '# HELP micwatch_receiver_info Always 1; the labels describe the receiver.',
    '# TYPE micwatch_receiver_info gauge',
    String.raw`micwatch_receiver_info{receiver_id="3",name="Rack \"A\" \\ left\nof stage",model="",manufacturer="shure",installation="Hall A"} 1`,
  ])
})

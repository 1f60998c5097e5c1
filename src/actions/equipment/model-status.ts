import type { ModelStatus } from '../../domain/equipment/model-status.ts'
import type { Receiver } from '../../domain/equipment/receiver.ts'
import { modelStatusOf } from '../../manufacturers/index.ts'
import type { Service } from '../../service.ts'

/** Returns null for a receiver of a site, or one that no source reports. */
export function findModelStatusOf(
  { receiverSources, sourceRegistry }: Service,
  receiver: Receiver,
): ModelStatus | null {
  const sources = receiverSources.list(receiver.id).flatMap((id) => sourceRegistry.find(id) ?? [])
  return modelStatusOf(receiver.manufacturer, {
    protocols: sources.map(({ adapter }) => adapter.protocol),
    deviceType: receiver.device_type,
    model: receiver.model,
    firmware: receiver.firmware_version,
  })
}

/** Interface of a product family with SSC 2: the resources to subscribe to, and their conversion. */

import type { ReceiverDetails } from '../../../contract/receivers.ts'
import type { ChannelReading, DeviceReport } from '../../../domain/equipment/receiver.ts'
import type { DeviceLevels, LevelKind } from '../../../domain/levels/level-sample.ts'
import type { FieldTable } from '../../../upstream/field-table.ts'
import type { Resources } from './resources.ts'

export interface LevelsInBody {
  /** Null for all channels. */
  readonly channel: number | null
  readonly kind: LevelKind
}

export interface Family {
  readonly device_type: string
  readonly model: string
  /** Resources that are polled or subscribed to in addition to the identity. */
  readonly paths: readonly string[]
  readonly levels: DeviceLevels
  /** Resources that are queried for levels in turn, because a level that does not change is not sent again. */
  readonly levelQueries: readonly string[]
  /** Returns the levels in a body that has been added to the resources. */
  findLevels(path: string, body: unknown, resources: Resources): readonly LevelsInBody[]
  readonly fields: FieldTable['fields']
  /** Returns what the device reports about itself; undefined until it has reported anything. */
  readDetails(resources: Resources): ReceiverDetails | undefined
  readChannels(resources: Resources): readonly ChannelReading[]
  /** Returns the packs without a channel; undefined until packs have been reported. `device` is the device's id. */
  readUnits?(resources: Resources, device: string): readonly DeviceReport[] | undefined
}

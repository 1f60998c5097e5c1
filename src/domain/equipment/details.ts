/**
 * Additional values that only some equipment reports, under the same names for all protocols. A field that was never
 * reported is absent; a field that was reported without a value is null. All values but `slots` are primitive, so that
 * comparing two readings is cheap.
 */

export type { ChannelDetails, TransmitterDetails, TransmitterSlot } from '../../contract/resources/channels.ts'
export {
  type AudioActivity,
  type AudioMode,
  audioActivities,
  type Encryption,
  type Fault,
  type FrequencyDiversity,
  type InputLevel,
  type SlotStatus,
  type TransmissionMode,
  type TransmitterLock,
} from '../../contract/values.ts'

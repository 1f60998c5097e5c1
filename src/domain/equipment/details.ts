/**
 * Additional values that only some equipment reports, under the same names for all protocols. An absent field was never
 * reported; a null field was reported without a value. All values except `slots` are primitive, so comparing two
 * readings is cheap.
 */

export type { ChannelDetails, TransmitterDetails, TransmitterSlot } from '../../contract/channels.ts'
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

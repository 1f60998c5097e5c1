import { noData } from './alert.ts'
import type { Cause } from './compare-causes.ts'

export const recordingSubject = 'recording'

export function toRecordingCause(error: string): Cause {
  return {
    subject: recordingSubject,
    kind: 'recording_stopped',
    since: null,
    isInhibited: false,
    manufacturer: null,
    receiver_id: null,
    channel_id: null,
    data: { ...noData, error },
  }
}

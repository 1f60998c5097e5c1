import { noData } from './alert.ts'
import type { Cause } from './compare-causes.ts'

/** The faults of the service itself that raise an alert, and the subjects of their alerts. */
export const faultSubjects = { recording_stopped: 'recording', backup_failed: 'backup' } as const

export type ServiceFault = keyof typeof faultSubjects

export function toFaultCause(kind: ServiceFault, error: string): Cause {
  return {
    subject: faultSubjects[kind],
    kind,
    since: null,
    isInhibited: false,
    manufacturer: null,
    receiver_id: null,
    channel_id: null,
    data: { ...noData, error },
  }
}

/** A process of its own that reads a backup from an unknown source: a crafted one can take forever, or crash its reader. */

import { findBackupFault } from './store/inspect-backup.ts'

const [, , file = ''] = process.argv
process.send?.({ fault: findBackupFault(file) }, () => process.disconnect())

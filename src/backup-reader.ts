/** Separate process that checks a backup: a crafted file can block or crash its reader. */

import { findBackupFault } from './store/inspect-backup.ts'

const [, , file = ''] = process.argv
process.send?.({ fault: findBackupFault(file) }, () => process.disconnect())

/** Checks a backup in a child process, because a crafted file can block or crash the process that reads it. */

import { findBackupFault } from './inspect-backup.ts'

const [, , file = ''] = process.argv
process.send?.({ fault: findBackupFault(file) }, () => process.disconnect())

/** The program of a child process that checks a backup: a crafted file can block or crash the process that reads it. */

import { findBackupFault } from './store/inspect-backup.ts'

const [, , file = ''] = process.argv
process.send?.({ fault: findBackupFault(file) }, () => process.disconnect())

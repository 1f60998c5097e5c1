/** Holds the write lock of a SQLite file: lock-child.ts <path> <ms> */

import { setTimeout as pause } from 'node:timers/promises'
import { DatabaseSync } from '@photostructure/sqlite'

const [path = '', ms = '0'] = process.argv.slice(2)
const database = new DatabaseSync(path)
database.exec('begin immediate')
process.stdout.write('locked\n')
await pause(Number(ms))
database.exec('commit')
database.close()

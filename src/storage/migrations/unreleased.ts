/** Changes since version 1.1.0. */

import type { Migration } from './migration.ts'

export const unreleased: readonly Migration[] = []

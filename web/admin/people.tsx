/** Who may sign in, and with which role. */

import { useState } from 'react'
import type { UserBody } from '../../src/model/people.ts'
import { isList } from '../api.ts'
import { DataTable } from '../parts/data-table.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Shell } from '../parts/shell.tsx'
import { useReading } from '../reading.ts'
import { useSession } from '../session.ts'
import '../styles/records.css'
import { t } from '../i18n.ts'
import { peopleColumns } from './people-columns.tsx'
import { PersonDialog, type PersonQuestion } from './person-dialogs.tsx'

const everyMs = 10_000

export function People() {
  const reading = useReading('/api/admin/users/', isList<UserBody>, everyMs)
  const [asked, setAsked] = useState<PersonQuestion | null>(null)
  const own = useSession()?.user?.id ?? null
  return (
    <Shell page="people" title={t('people.title')} intro={t('people.intro')}>
      <Loaded reading={reading}>
        {(users) => (
          <>
            <div className="list-actions">
              <button type="button" className="choice" data-tone="usual" onClick={() => setAsked({ kind: 'add' })}>
                {t('people.add')}
              </button>
            </div>
            <DataTable
              caption={t('people.list')}
              columns={peopleColumns({ own, lastAdmin: lastAdmin(users), onAsk: setAsked })}
              rows={users}
              idOf={({ id }) => id}
            />
          </>
        )}
      </Loaded>
      {asked === null ? null : <PersonDialog question={asked} onDone={reading.reload} onClose={() => setAsked(null)} />}
    </Shell>
  )
}

/** The one that must remain; null while there are several. */
function lastAdmin(users: readonly UserBody[]): number | null {
  const admins = users.filter(({ role, is_active }) => role === 'admin' && is_active)
  return admins.length === 1 ? (admins[0]?.id ?? null) : null
}

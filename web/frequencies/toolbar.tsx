import { Printer } from 'lucide-react'
import type { Group } from '../../src/contract/groups.ts'
import { type GuardLevel, guardLevels } from '../../src/contract/values.ts'
import { useServices, useWatchState } from '../app/context.ts'
import { formatDateTime, plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { useSearch } from '../app/query.ts'
import { Choice } from '../parts/forms/choice.tsx'
import { ExportMenu } from './export-menu.tsx'

/** From the address */
export interface Filters {
  readonly level: GuardLevel
  readonly isOnlyOn: boolean
  readonly group: Group | null
}

export function useFilters(): Filters {
  const [search] = useSearch()
  const query = new URLSearchParams(search)
  const groupId = Number(query.get('group'))
  return {
    level: guardLevels.find((name) => name === query.get('level')) ?? 'standard',
    isOnlyOn: query.get('on') === 'true',
    group: useWatchState(({ groups }) => groups.find(({ id }) => id === groupId) ?? null),
  }
}

export function Toolbar({ level, isOnlyOn, group }: Filters) {
  const { mount } = useServices()
  const [, change] = useSearch()
  const groups = useWatchState((watchState) => watchState.groups)
  const addressOf = (format: string) =>
    `${mount}/api/frequencies/export.csv?${new URLSearchParams({
      format,
      ...(isOnlyOn && { only_on: '1' }),
      ...(group !== null && { group: String(group.id) }),
    })}`
  return (
    <div className="frequencies-toolbar screen-only">
      <Choice
        label={t('frequencies.level')}
        isLabelled={true}
        value={level}
        values={guardLevels}
        nameOf={(name) => t(`frequencies.levels.${name}`)}
        onChoice={(name) => change({ level: name === 'standard' ? null : name })}
      />
      {groups.length === 0 ? null : (
        <Choice
          label={t('frequencies.group')}
          isLabelled={true}
          value={group === null ? '' : String(group.id)}
          values={['', ...groups.map(({ id }) => String(id))]}
          nameOf={(id) =>
            plainText(groups.find((candidate) => String(candidate.id) === id)?.title ?? t('frequencies.allGroups'))
          }
          onChoice={(id) => change({ group: id === '' ? null : id })}
        />
      )}
      <label className="tick">
        <input
          type="checkbox"
          checked={isOnlyOn}
          onChange={({ target }) => change({ on: target.checked ? 'true' : null })}
        />
        {t('frequencies.onlyOn')}
      </label>
      <span className="box-actions">
        <ExportMenu name={t('frequencies.export.tuned')} fileOf={(format) => ({ address: addressOf(format) })} />
        <button type="button" className="choice" onClick={() => print()}>
          <Printer className="icon" aria-hidden="true" />
          {t('documents.print')}
        </button>
      </span>
    </div>
  )
}

export function printedText({ level, isOnlyOn, group }: Filters, checkedAt: string): string {
  return [
    t('frequencies.printed', { time: formatDateTime(checkedAt) }),
    `${t('frequencies.level')}: ${t(`frequencies.levels.${level}`)}`,
    ...(group === null ? [] : [`${t('frequencies.group')}: ${plainText(group.title)}`]),
    ...(isOnlyOn ? [t('frequencies.onlyOn')] : []),
  ].join(' · ')
}

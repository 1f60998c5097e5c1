import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef, useState, useSyncExternalStore } from 'react'
import { pathOf } from '../../../src/domain/pages.ts'
import { canNotify } from '../../app/alarm.ts'
import { useServices, useWatchState } from '../../app/context.ts'
import { t } from '../../app/i18n.ts'
import { usePaletteCommands } from '../../app/palette-provider.tsx'
import { addressOf, defaultView } from '../../app/view.ts'
import { Dialog } from '../dialogs/dialog.tsx'
import { onDemand } from '../dialogs/on-demand.tsx'
import { type Command, type CommandOptions, commandOf, listCommands } from './commands.ts'

const QrDialog = onDemand(async () => (await import('./qr-dialog.tsx')).QrDialog)

type CommandsProps = Pick<CommandOptions, 'page' | 'view' | 'change'> & { search?(): void; onArrange?(): void }

export function useCommands({ page, view, change, search = () => {}, onArrange }: CommandsProps) {
  const { alarm, replay } = useServices()
  const navigate = useNavigate()
  const groups = useWatchState((watchState) => watchState.groups)
  const alarmState = useSyncExternalStore(alarm.subscribe, alarm.get)
  const [shown, setShown] = useState<'help' | 'qr' | null>(null)
  const show = (what: 'help' | 'qr' | 'arrange') => (what === 'arrange' ? onArrange?.() : setShown(what))
  const hasSites = useWatchState(({ sites }) => sites.length > 0)
  const open = (other: 'monitor' | 'wall' | 'sites') => {
    if (other === 'sites') return void navigate({ to: pathOf('sites') })
    const { manufacturer, site, group, at } = view
    void navigate({ to: pathOf(other), search: addressOf({ ...defaultView, manufacturer, site, group, at }) })
  }
  const isReplay = replay !== null
  const commands = listCommands({
    ...{ page, view, groups, alarm, alarmState, isReplay, hasSites },
    ...{ change, open, show, search },
  })

  usePaletteCommands(commands)
  const latest = useRef(commands)
  useEffect(() => {
    latest.current = commands
  })
  // A listener that is added while a key event is handled misses it.
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const command = commandOf(latest.current, event)
      if (command === null) return
      event.preventDefault()
      command.run(event.key.toLowerCase())
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [])
  const close = () => setShown(null)
  const dialog =
    shown === 'help' ? (
      <Help commands={commands} onClose={close} />
    ) : shown === 'qr' ? (
      <QrDialog view={view} onClose={close} />
    ) : null
  return { commands, dialog }
}

/** `keys` selects the commands and their order. */
export function CommandButtons({ commands, keys }: { commands: readonly Command[]; keys?: string }) {
  const shown =
    keys === undefined
      ? commands.filter((command) => !command.isElsewhere)
      : [...keys].flatMap((key) => commands.filter((command) => command.key === key))
  return shown.map(({ key, text, isOn, run }) => (
    <button key={key} type="button" className="choice" aria-pressed={isOn} onClick={() => run(key)}>
      {text}{' '}
      <span className="key" aria-hidden="true">
        {key}
      </span>
    </button>
  ))
}

/** A button, because not every device has a keyboard for the shortcut. */
export function NotifyButton() {
  const { alarm, replay } = useServices()
  const { isNotifying, isRefused } = useSyncExternalStore(alarm.subscribe, alarm.get)
  if (!canNotify() || replay !== null) return null
  return (
    <button
      type="button"
      className="choice"
      aria-pressed={isNotifying}
      disabled={isRefused}
      onClick={() => void alarm.toggleNotifications()}
    >
      {isRefused ? t('live.keys.notifyBlocked') : t('live.keys.notify')}
    </button>
  )
}

function Help({ commands, onClose }: { commands: readonly Command[]; onClose: () => void }) {
  const { mount } = useServices()
  const rows = [
    ...commands.map(({ key, keyText = key, text }) => ({ keyText, text })),
    { keyText: t('live.keys.escape'), text: t('live.keys.close') },
  ]
  return (
    <Dialog title={t('live.keys.title')} onClose={onClose}>
      <table className="keys">
        <thead className="visually-hidden">
          <tr>
            <th scope="col">{t('live.keys.columnKey')}</th>
            <th scope="col">{t('live.keys.columnAction')}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ keyText, text }) => (
            <tr key={keyText}>
              <th scope="row">
                <kbd>{keyText}</kbd>
              </th>
              <td>{text}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <div className="dialog-actions">
        <a className="choice" href={`${mount}/help/`}>
          {t('live.keys.guide')}
        </a>
        <button type="button" className="choice" onClick={onClose}>
          {t('live.keys.closeButton')}
        </button>
      </div>
    </Dialog>
  )
}

// The value of an option of bind: the user's setting, otherwise the preset of a flag or of the method, otherwise the
// default. No DOM.
import type {Option} from 'sinew-skin';

type SettingsByName = Readonly<Record<string, string>>;

/** The value without the user's own setting of this option. */
export function presetIn(options: readonly Option[], settings: SettingsByName, name: string): string {
  for (const flag of options)
    if (flag.sets?.[name] !== undefined && settings[flag.name] === 'on') return flag.sets[name];
  const optionOf = (wanted: string) => options.find((o) => o.name === wanted);
  const methods = optionOf('method');
  const method = settings.method ?? methods?.value ?? '';
  return methods?.methods?.[method]?.presets[name] ?? optionOf(name)?.value ?? '';
}

/** The value that bind uses. */
export function valueIn(options: readonly Option[], settings: SettingsByName, name: string): string {
  return settings[name] ?? presetIn(options, settings, name);
}

"""`silas init`: the owner's key, the database and the directories; safe to repeat."""

from silas.config import SilasConfig
from silas.home.data_directory import unusable_home
from silas.home.key_vault import key_exists, open_vault, owner_keys
from silas.home.signer_client import enrol, is_apart
from silas.language import tr
from silas.services.cockpit.finding_words import told_of_finding
from silas.services.owner_key import key_place
from silas.services.record import open_record_with


async def initialise(config: SilasConfig) -> list[str]:
    """`silas init`: keys, database, directories; safe to repeat. Returns what is where."""
    folders = (config.data_dir, config.sandbox.verify_dir, config.sandbox.customer_context_dir)
    try:
        for folder in folders:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise unusable_home(config, error) from error
    vault = open_vault(config)
    signer = None
    if not key_exists(config, vault):
        if is_apart(config):
            enrol(config)
        else:
            signer = vault.create(config.owner_id)
    if signer is None:  # a key that is there is unlocked by what signs, if anything does
        signer, ring = owner_keys(config, vault, unlock=False)
    else:
        ring = vault.ring(config.owner_id)
    warnings: list[str] = []
    with open_record_with(config, warnings, signer, ring) as record:
        await record.log.open()
    return [
        *warnings,
        tr("Silas is ready. Its data is in {folder}.", folder=config.data_dir),
        tr(
            "Owner key {begins}...: {place}",
            begins=vault.public_key(config.owner_id)[:16],
            place=told_of_finding(key_place(config, vault)),
        ),
    ]

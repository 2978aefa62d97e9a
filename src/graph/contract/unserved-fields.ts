/**
 * D-163: fields that platforms of this kind have for a node and Plaza does not. Libraries ask for them in lists of their own, whether the
 * caller wants them or not. Sources: the enumerations of fields in such a platform's own library for Python, without those that bear the
 * name of a product; for users and pages also the default lists of `pyfacebook` (`utils/constant.py`); for phone numbers, and for the rest of
 * live videos, media and accounts, names that are known of platforms of this kind.
 */
const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/));

export const unservedFields = {
  page: words(
    `about access_token ad_campaign affiliation app_id artists_we_like attire available_promo_offer_ids awards band_interests band_members
     best_page bio birthday booking_agent breaking_news_usage built business can_checkin can_post category category_list checkins
     company_overview contact_address copyright_attribution_insights country_page_likes cover culinary_team current_location
     delivery_and_pickup_option_info description description_html differently_open_offerings directed_by display_subtext
     displayed_message_response_time emails engagement fan_count featured_video features followers_count food_styles founded general_info
     general_manager genre global_brand_page_name global_brand_root_id has_added_app has_lead_access has_transitioned_to_new_page_experience
     hometown hours impressum influences is_always_open is_calling_eligible is_chain is_community_page is_eligible_for_branded_content is_owned
     is_permanently_closed is_published is_unclaimed is_verified is_webhooks_subscribed keywords leadgen_tos_acceptance_time
     leadgen_tos_accepted leadgen_tos_accepting_user link location members merchant_id merchant_review_status messaging_feature_status
     mini_shop_storefront mission mpg name_with_location_descriptor network new_like_count offer_eligible overall_star_rating owner_business
     page_token parent_page parking payment_options personal_info personal_interests pharma_safety_info phone pickup_options picture place_type
     plot_outline preferred_audience press_contact price_range priority_hours privacy_info_url produced_by products promotion_eligible
     promotion_ineligible_reason public_transit rating_count recipient record_label release_date restaurant_services restaurant_specialties
     schedule screenplay_by season single_line_address starring start_info store_code store_location_descriptor store_number studio
     supports_donate_button_in_live_video talking_about_count tasks temporary_status unread_message_count unread_notif_count
     unseen_message_count user_access_expire_time username verification_status voip_info website were_here_count written_by`,
  ),
  user: words(
    `about age_range birthday client_business_id community context cover currency devices education email favorite_athletes favorite_teams
     first_name gender hometown inspirational_people install_type installed is_guest_user is_verified is_work_account languages last_name link
     local_news_megaphone_dismiss_status local_news_subscription_status locale location meeting_for middle_name name_format payment_pricepoints
     picture political profile_pic quotes relationship_status religion security_settings shared_login_upgrade_required_by short_name
     significant_other sports supports_donate_button_in_live_video test_group third_party_id timezone token_for_business updated_time verified
     video_upload_limits viewer_can_send_gift website work`,
  ),
  business: words(
    `block_offline_analytics collaborative_ads_managed_partner_business_info collaborative_ads_managed_partner_eligibility
     collaborative_ads_partner_premium_options created_by created_time extended_updated_time is_hidden link
     marketing_messages_onboarding_status payment_account_id primary_page profile_picture_uri timezone_id two_factor_type updated_by
     updated_time user_access_expire_time verification_status vertical vertical_id`,
  ),
  app: words(
    `aam_rules android_key_hash android_sdk_error_categories app_domains app_events_config app_events_feature_bitmask
     app_events_session_timeout app_install_tracked app_name app_signals_binding_ios app_type auth_dialog_data_help_url auth_dialog_headline
     auth_dialog_perms_explanation auth_referral_default_activity_privacy auth_referral_enabled auth_referral_extended_perms
     auth_referral_friend_perms auth_referral_response_type auth_referral_user_perms auto_event_mapping_android auto_event_mapping_ios
     auto_event_setup_enabled auto_log_app_events_default auto_log_app_events_enabled business canvas_fluid_height canvas_fluid_width
     canvas_url category client_config company config_ids configured_ios_sso contact_email created_time creator_uid daily_active_users
     daily_active_users_rank deauth_callback_url default_share_mode description enigma_config financial_id gdpv4_chrome_custom_tabs_enabled
     gdpv4_enabled gdpv4_nux_content gdpv4_nux_enabled hosting_url icon_url ios_bundle_id ios_sdk_dialog_flows ios_sdk_error_categories
     ios_sfvc_attr ios_supports_native_proxy_auth_flow ios_supports_system_auth ipad_app_store_id iphone_app_store_id latest_sdk_version link
     logging_token login_url logo_url mobile_profile_section_url mobile_web_url monthly_active_users monthly_active_users_rank
     namespace object_store_urls owner_business page_tab_default_name page_tab_url photo_url privacy_policy_url profile_section_url property_id
     protected_mode_rules real_time_mode_devices restrictions restrictive_data_filter_params restrictive_data_filter_rules sdk_update_message
     seamless_login secure_canvas_url secure_page_tab_url server_ip_whitelist smart_login_bookmark_icon_url smart_login_menu_icon_url
     social_discovery subcategory suggested_events_setting supported_platforms supports_apprequests_fast_app_switch supports_attribution
     supports_implicit_sdk_logging suppress_native_ios_gdp terms_of_service_url url_scheme_suffix user_support_email user_support_url
     website_url weekly_active_users`,
  ),
  live_video: words(
    `ad_break_config ad_break_failure_reason copyright dash_ingest_url dash_preview_url from ingest_streams is_manual_mode is_reference_only
     live_views overlay_url recommended_encoder_settings seconds_left tags total_views video`,
  ),
  social_account: words(
    `account_type biography business_discovery collaborative_media_search followers_count follows_count has_profile_pic is_published
     media_count mentioned_comment mentioned_media owner_business profile_picture_url shopping_product_tag_eligibility shopping_review_status
     user_id website`,
  ),
  product_catalog: words(
    `ad_account_to_collaborative_ads_share_settings agency_collaborative_ads_share_settings business catalog_store commerce_merchant_settings
     creator_user da_display_settings default_image_url fallback_image_url feed_count is_catalog_segment is_local_catalog owner_business
     product_count show_assign_permissions store_catalog_settings user_access_expire_time`,
  ),
  product_feed: words(
    `country created_time default_currency deletion_enabled delimiter encoding feed_type file_name ingestion_source_type item_sub_type
     migrated_from_feed_id override_type override_value primary_feed_ids primary_feeds quoted_fields_mode rules selected_override_fields
     supplementary_feeds use_case`,
  ),
  product_feed_schedule: words("id username"),
  product_feed_upload: words("error_report warning_count"),
  product_feed_upload_error: words("affected_surfaces error_type id total_count"),
  media: words(
    `alt_text boost_eligibility_info comments copyright_check_information current_live_viewer_count has_poll has_slider is_comment_enabled
     is_shared_to_feed media_audio_type reposts_count saved_count shares_count total_comments_count total_like_count total_views_count
     video_title view_count`,
  ),
  chatapp_account: words(
    `account_review_status analytics auth_international_rate_eligibility business_verification_status country creation_time currency
     disable_marketing_messages_on_cloud_api health_status is_enabled_for_insights is_shared_with_partners linked_commerce_account
     marketing_messages_ad_account marketing_messages_lite_api_status marketing_messages_onboarding_status message_template_namespace
     on_behalf_of_business_info owner_business owner_business_info ownership_type primary_business_location primary_funding_id
     purchase_order_number status template_auto_archival_enabled timezone_id`,
  ),
  live_comment: words(
    `admin_creator application attachment can_comment can_hide can_like can_remove can_reply_privately comment_count is_hidden is_private
     like_count live_broadcast_timestamp message_tags object parent permalink_url private_reply_conversation user_likes`,
  ),
  phone_number: words(
    `account_mode certificate code_verification_status health_status is_official_business_account is_pin_enabled last_onboarded_time
     messaging_limit_tier name_status new_certificate new_name_status platform_type quality_rating quality_score search_visibility status
     throughput`,
  ),
} as const;
